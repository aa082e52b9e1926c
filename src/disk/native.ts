/** The native module for kernel locks and atomic swaps, loaded on first use; null where it does not load. */

export interface Native {
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
  /** Exchanges two paths in one step (renameat2, renamex_np). Not atomic on Windows. */
  swapSync(from: string, to: string): void;
}

let loaded: Native | null | undefined;

export function loadNative(): Native | null {
  if (loaded === undefined) {
    try {
      // Imported above, it would cost a hook two milliseconds, of which hardly any needs it.
      const { createRequire } = process.getBuiltinModule("node:module");
      loaded = createRequire(import.meta.url)("fs-native-extensions") as Native;
    } catch {
      // No prebuilt binary for this platform: the pid file and plain renames serve instead.
      loaded = null;
    }
  }
  return loaded;
}
