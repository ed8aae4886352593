# The static prof of a release, for Homebrew on Linux. SHA256SUMS has the sum of the archive.
#   export HOMEBREW_PROF_RELEASE=https://…/download/v0.2.0 HOMEBREW_PROF_SHA256=…
#   brew install --formula ./prof.rb
class Prof < Formula
  desc "Sampling profiler that unwinds while it records"
  version "0.2.0"
  license "MIT"

  machine = Hardware::CPU.arm? ? "aarch64" : "x86_64"
  url "#{ENV.fetch("HOMEBREW_PROF_RELEASE")}/prof-#{version}-#{machine}.tar.gz"
  sha256 ENV.fetch("HOMEBREW_PROF_SHA256")

  depends_on :linux

  def install
    prefix.install Dir["bin", "lib", "share"]
  end

  test do
    system bin/"prof", "record", "-o", "out.folded", "--", bin/"prof", "doctor"
    assert_predicate testpath/"out.folded", :exist?
  end
end
