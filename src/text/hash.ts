/** SHA-256 as hex. The module behind it is slow to load and reading needs none, so it is asked for late. */

export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(data).digest("hex");
}
