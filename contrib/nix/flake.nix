# nix run "git+file:///path/to/prof?dir=contrib/nix" -- --version
{
  description = "prof, a sampling profiler that unwinds while it records";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "prof";
          version = "0.2.0";
          src = ../..;
          nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 ];
          buildInputs = with pkgs; [
            capstone elfutils isa-l libdeflate libiberty libmicrohttpd ncurses xz zlib zstd
          ];
          # prof loads these when they are needed.
          postFixup = ''
            patchelf --add-rpath ${nixpkgs.lib.makeLibraryPath (with pkgs; [ capstone libmicrohttpd curl elfutils ])} $out/bin/prof
          '';
          meta = {
            description = "Sampling profiler that unwinds while it records";
            license = nixpkgs.lib.licenses.mit;
            platforms = systems;
            mainProgram = "prof";
          };
        };
      });
    };
}
