/**
 * Shared memory that begins small: the garbage collector lets its own heap grow with all memory that a program holds,
 * also with what nobody has written to. Arrays made on it without a length see it grow.
 */
export const growing = (maxBytes: number, firstBytes = 4_096): SharedArrayBuffer =>
  new SharedArrayBuffer(Math.min(firstBytes, maxBytes), { maxByteLength: maxBytes })

/** Makes room for so many bytes. At most one thread may do so at a time. */
export const makeRoom = (memory: SharedArrayBuffer, bytes: number): void => {
  if (memory.byteLength < bytes)
    memory.grow(Math.min(memory.maxByteLength, Math.max(bytes, 2 * memory.byteLength)))
}
