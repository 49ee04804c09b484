import { dlopen } from 'bun:ffi'

/** Numbers of the system's own: the same on Linux and macOS. */
const [FILE_SIZE, CORE, SIGXFSZ, DEFAULT] = [1, 4, 25, 0n] as const

const system = () =>
  dlopen(process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6', {
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    signal: { args: ['i32', 'u64'], returns: 'u64' },
  }).symbols

export const resourceLimits = {
  /** From now on a write that would make a file of this process longer than that ends it, without a word. */
  fileSize: (bytes: number): void => {
    const { setrlimit, signal } = system()
    const both = (most: number): BigUint64Array => new BigUint64Array([BigInt(most), BigInt(most)])
    // Bun ignores the signal, and the write would fail as on a full disk; nor is a core of use.
    signal(SIGXFSZ, DEFAULT)
    if (setrlimit(CORE, both(0)) !== 0 || setrlimit(FILE_SIZE, both(bytes)) !== 0)
      throw new Error('The system sets no limits.')
  },
}
