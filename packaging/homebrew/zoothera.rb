class Zoothera < Formula
  desc "UCI chess engine that plays at your level and reviews your games"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "GPL-3.0-or-later"

  on_linux do
    on_intel do
      url "@BASE_URL@/zoothera-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SHA256_linux-x86_64.tar.gz@"
    end
    on_arm do
      url "@BASE_URL@/zoothera-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SHA256_linux-aarch64.tar.gz@"
    end
  end

  on_macos do
    url "@BASE_URL@/zoothera-@VERSION@-source.tar.gz"
    sha256 "@SHA256_source.tar.gz@"
    depends_on "rust" => :build
  end

  def install
    if File.exist?("zoothera")
      bin.install "zoothera"
      man1.install Dir["man/*.1"]
      bash_completion.install "completions/zoothera.bash" => "zoothera"
      zsh_completion.install "completions/zoothera.zsh" => "_zoothera"
      fish_completion.install "completions/zoothera.fish"
    else
      system "cargo", "install", *std_cargo_args
      generate_completions_from_executable(bin/"zoothera", "completions")
      system bin/"zoothera", "man", "--to", man1
    end
  end

  test do
    assert_match "bestmove", shell_output("#{bin}/zoothera go depth 5")
  end
end
