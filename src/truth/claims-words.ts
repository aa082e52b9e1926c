/** Words that are no names: placeholders, products that look like files, programs whose options are not ours. */

const PLACEHOLDER =
  /^(?:foo|bar|baz|qux|quux|foobar|path|to|x{2,}|y{2,}|n{2,}|your[-_]?\w*|my[-_]\w+|some[-_]?\w*|whatever|something|placeholder|lorem|ipsum|todo|tbd)$/i;

/** `path/to/file.ts`, `src/foo.ts`, `NNN_name.sql`, `YYYY-MM-DD.md`. */
export function isPlaceholder(text: string): boolean {
  if (/[<>{}*?|…]|\.\.\.|\$\(|\[\w+\]/.test(text)) return true;
  return text.split(/[/\\.:#]/).some((part) => {
    const stem = part.replace(/^[-@_]+/, "");
    return (
      PLACEHOLDER.test(stem) ||
      /(?:^|[-_])(?:N{2,}|X{2,}|YYYY|HHMM|DD)(?:$|[-_])/.test(stem) ||
      /^(?:foo|bar|baz|fooBar)[A-Z_]/.test(stem)
    );
  });
}

/** A word with a dot is a file if it ends so. */
export const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|json[c5]?|mdx?|rst|ya?ml|toml|py|pyi|ipynb|go|mod|rs|rb|erb|java|kts?|scala|clj|ex|exs|erl|hs|ml|swift|php|cs|fs|vb|c|h|cc|cpp|cxx|hpp|m|mm|lua|pl|r|jl|dart|sh|bash|zsh|fish|ps1|bat|sql|css|s[ac]ss|less|html?|xml|txt|csv|tsv|env|ini|cfg|conf|lock|proto|graphql|gql|vue|svelte|astro|gradle|tf|tfvars|hcl|nix|cmake|mk|svg|png|jpe?g|pdf|tmpl|hbs|ejs|plist|properties|editorconfig|prisma|sol|zig|wasm)$/i;
const FILE_NAME =
  /^(?:Dockerfile(?:\.\w+)?|Makefile|GNUmakefile|Justfile|justfile|Jenkinsfile|Procfile|Vagrantfile|Gemfile|Rakefile|Brewfile|CODEOWNERS|LICENSE|CMakeLists\.txt|\.[a-z][\w-]*(?:rc|ignore|config|attributes)(?:\.\w+)?|\.env(?:\.[\w-]+)+)$/;
const PRODUCT =
  /^(?:node|next|vue|nuxt|react|express|three|d3|chart|moment|day|socket|discord|alpine|ember|backbone|p5|bun|deno|angular|require|asp|vb|ml)\.(?:js|net|ts|io)$/i;

export function isFileName(word: string): boolean {
  return (
    (FILE_ENDING.test(word) &&
      !PRODUCT.test(word) &&
      /^[\w.@+-]+$/.test(word) &&
      /[A-Za-z_]/.test(word.split(".")[0] || "x")) ||
    FILE_NAME.test(word)
  );
}

/** Programs of others: their options are no claims about this project. */
export const OTHERS =
  /^(?:git|gh|glab|npm|npx|yarn|pnpm|bun|bunx|deno|docker|docker-compose|podman|kubectl|helm|k9s|cargo|rustup|go|gofmt|pip3?|pipx|poetry|uv|python3?|node|tsx|ts-node|tsc|ruby|gem|bundle|rails|rake|java|javac|mvn|gradle|gradlew|sbt|dotnet|swift|xcodebuild|brew|apt|apt-get|dnf|yum|apk|pacman|choco|winget|curl|wget|ssh|scp|rsync|tar|zip|unzip|grep|rg|sed|awk|find|xargs|ls|cat|less|tail|head|jq|yq|psql|mysql|sqlite3|redis-cli|mongosh?|aws|gcloud|az|terraform|tofu|ansible|ansible-playbook|systemctl|journalctl|sudo|make|cmake|ninja|gcc|clang|pytest|jest|vitest|mocha|eslint|prettier|biome|ruff|black|mypy|playwright|cypress|webpack|vite|rollup|esbuild|openssl|gpg|chmod|chown|cp|mv|rm|mkdir|claude|codex|gemini|code|vim|tmux|ffmpeg|protoc|buf|alembic|flyway|celery|gunicorn|uvicorn|uvicorn|nginx|pm2|turbo|nx|lerna|changeset|semgrep|trivy|snyk)$/;

/** The program of a command line, without what is set before it. */
export function programOf(span: string): string {
  const words = span.replace(/^[$%>]\s+/, "").split(/\s+/);
  const first =
    words.find((word) => word !== "" && !/^[A-Z_]+=/.test(word) && !/^(?:sudo|time|env|exec|nohup)$/.test(word)) ?? "";
  return first.replace(/^.*[/\\]/, "");
}
