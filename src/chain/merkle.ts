import { sha3OfPair } from './hash.ts'

const parentsOf = (level: readonly Uint8Array[]): readonly Uint8Array[] => {
  const parents: Uint8Array[] = []
  for (let at = 0; at < level.length; at += 2) {
    const left = level[at] ?? new Uint8Array()
    parents.push(sha3OfPair(left, level[at + 1] ?? left))
  }
  return parents
}

/**
 * Root of the chain's merkle tree: SHA3-256 over pairs, level by level; a missing right node repeats the left one, a
 * single leaf is h(l‖l). No leaves: no bytes (go-iost core/merkletree).
 */
export const merkleRoot = (leaves: readonly Uint8Array[]): Uint8Array => {
  if (leaves.length === 0) return new Uint8Array()
  let level = leaves
  do level = parentsOf(level)
  while (level.length > 1)
  return level[0] ?? new Uint8Array()
}

/** The siblings of the leaf at `index`, level by level: the neighbour and its side; none: the leaf itself. */
export type MerklePath = readonly { readonly neighbour: Uint8Array | undefined; readonly isLeft: boolean }[]

/** The path of one leaf: the root for another leaf in its place costs one hash a level. */
export const merklePath = (leaves: readonly Uint8Array[], index: number): MerklePath => {
  const path: { readonly neighbour: Uint8Array | undefined; readonly isLeft: boolean }[] = []
  let level = leaves
  let at = index
  do {
    const isLeft = at % 2 === 1
    path.push({ neighbour: level[isLeft ? at - 1 : at + 1], isLeft })
    level = parentsOf(level)
    at = Math.floor(at / 2)
  } while (level.length > 1)
  return path
}

/** The root of the tree whose leaf at the path's place is `leaf`. */
export const rootOnPath = (path: MerklePath, leaf: Uint8Array): Uint8Array =>
  path.reduce(
    (own, { neighbour = own, isLeft }) => (isLeft ? sha3OfPair(neighbour, own) : sha3OfPair(own, neighbour)),
    leaf,
  )
