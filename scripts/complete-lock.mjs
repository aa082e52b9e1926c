// Completes package-lock.json: `npm ci` wants an entry for every optional platform package, but npm leaves out those that
// the registry in use does not serve. Run it after `npm install` changed the lock. The entries carry no integrity hash.
import { readFileSync, writeFileSync } from "node:fs";

const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
let added = 0;
for (const { optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`;
    if (lock.packages[key]) continue;
    const words = name.split("/").pop().split("-");
    const cpu = PROCESSORS.filter((word) => words.includes(word));
    const os = SYSTEMS.filter((word) => words.includes(word));
    const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
    lock.packages[key] = {
      version,
      ...(cpu.length > 0 && { cpu }),
      dev: true,
      ...(libc.length > 0 && { libc }),
      optional: true,
      ...(os.length > 0 && { os }),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added to package-lock.json`);
