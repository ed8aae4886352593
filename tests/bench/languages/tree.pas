{ The call tree of tree.c. }
{$Q-}{$R-}
program tree;
uses sysutils;

function leaf(seed: qword): qword;
var i: integer;
begin
  leaf := seed;
  for i := 0 to 3000 do
    leaf := (leaf + qword(i)) * qword(1000003) xor (leaf shr 29);
end;

function left(seed: qword): qword;
begin
  left := leaf(seed) + 1;
end;

function right(seed: qword): qword;
var text: ansistring; i: integer;
begin
  text := '';
  for i := 1 to 20 do text := text + IntToStr(leaf(seed + qword(i)));
  right := length(text);
end;

function outer(seed: qword): qword;
begin
  if odd(seed) then outer := left(seed) + 3 else outer := right(seed) + 4;
end;

var i: longint; sum: qword;
begin
  sum := 0;
  for i := 1 to 60000 do sum := sum + outer(qword(i));
  writeln(sum);
end.
