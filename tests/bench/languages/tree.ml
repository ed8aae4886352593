(* The call tree of tree.c, on the main stack and inside effect handlers (OCaml 5: on fibers). *)
let[@inline never] leaf seed =
  let sum = ref seed in
  for i = 1 to 3000 do
    sum := (!sum + i) * 0x9e3779b9 lxor (!sum lsr 29)
  done;
  !sum

let[@inline never] left seed = leaf seed + 1
let[@inline never] right seed = List.fold_left ( + ) 2 (List.map leaf [ seed; seed + 1 ])
let[@inline never] outer seed = if seed land 1 = 1 then left seed + 3 else right seed + 4

let run seconds =
  let until = Sys.time () +. seconds in
  let sum = ref 0 in
  while Sys.time () < until do
    for i = 1 to 200 do
      sum := !sum + outer (!sum + i)
    done
  done;
  !sum

let () = ignore (Sys.opaque_identity (run 2.))
