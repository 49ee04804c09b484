import { sha3 } from './hash.ts'

/**
 * Root of the chain's merkle tree: SHA3-256 over pairs, level by level; a missing right node repeats the left one, a
 * single leaf is h(l‖l). No leaves: no bytes (go-iost core/merkletree).
 */
export const merkleRoot = (leaves: readonly Uint8Array[]): Uint8Array => {
  if (leaves.length === 0) return new Uint8Array()
  let level = leaves
  do {
    const parents: Uint8Array[] = []
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] ?? new Uint8Array()
      parents.push(sha3(left, level[at + 1] ?? left))
    }
    level = parents
  } while (level.length > 1)
  return level[0] ?? new Uint8Array()
}
