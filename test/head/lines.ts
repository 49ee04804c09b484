import type { ForkBlock } from './fork-node.ts'

/** The blocks of a line from its tip down to a height, which is excluded. */
export function aboveOf(tip: ForkBlock, height: number): readonly ForkBlock[] {
  const blocks: ForkBlock[] = []
  for (let at: ForkBlock | undefined = tip; at !== undefined && at.made.height > height; at = at.parent) blocks.push(at)
  return blocks
}

/** The block of a line at a height, which must not be below the base of the forks; the tip if the line is lower. */
export const ancestor = (tip: ForkBlock, height: number): ForkBlock => aboveOf(tip, height).at(-1)?.parent ?? tip

/** Whether a line contains a block. */
export const leadsTo = (tip: ForkBlock, { height, hash }: { readonly height: number; readonly hash: string }) =>
  tip.made.height >= height && ancestor(tip, height).hash === hash
