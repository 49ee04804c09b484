import { dlopen } from 'bun:ffi'

/** System constants that are the same on Linux and macOS. */
const [FILE_SIZE, CORE, SIGXFSZ, DEFAULT] = [1, 4, 25, 0n] as const

const system = () =>
  dlopen(process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6', {
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    signal: { args: ['i32', 'u64'], returns: 'u64' },
  }).symbols

export const resourceLimits = {
  /** From now on a write that would make a file larger than `bytes` ends this process with SIGXFSZ. */
  fileSize: (bytes: number): void => {
    const { setrlimit, signal } = system()
    const both = (most: number): BigUint64Array => new BigUint64Array([BigInt(most), BigInt(most)])
    // Bun ignores the signal, so the write would fail with an error as on a full disk. A core dump is not needed.
    signal(SIGXFSZ, DEFAULT)
    if (setrlimit(CORE, both(0)) !== 0 || setrlimit(FILE_SIZE, both(bytes)) !== 0)
      throw new Error('The system sets no limits.')
  },
}
