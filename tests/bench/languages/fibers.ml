(* OCaml 5: work on fibers, which are entered and left by effects, and in a second domain. *)
open Effect
open Effect.Deep

type _ Effect.t += Ask : int -> int Effect.t

let[@inline never] leaf seed =
  let sum = ref seed in
  for i = 1 to 3000 do
    sum := (!sum + i) * 0x9e3779b9 lxor (!sum lsr 29)
  done;
  !sum

let[@inline never] worker seed = leaf (perform (Ask seed)) + leaf seed
let[@inline never] compare_by_leaf a b = compare (leaf a) (leaf b)
let[@inline never] sorter seed = List.hd (List.sort compare_by_leaf [ seed; 3; 1; 2 ])

let[@inline never] outer seed =
  match_with
    (fun seed -> worker seed + sorter seed)
    seed
    {
      retc = (fun sum -> sum + leaf seed);
      exnc = raise;
      effc =
        (fun (type a) (eff : a Effect.t) ->
          match eff with
          | Ask n -> Some (fun (k : (a, _) continuation) -> continue k (leaf n))
          | _ -> None);
    }

let run seconds =
  let until = Unix.gettimeofday () +. seconds in
  let sum = ref 0 in
  while Unix.gettimeofday () < until do
    for i = 1 to 100 do
      sum := !sum + outer i
    done
  done;
  !sum

let () =
  let other = Domain.spawn (fun () -> run 2.) in
  ignore (Sys.opaque_identity (run 2. + Domain.join other))
