import { Type } from '@sinclair/typebox'
import type { BlockAbove } from '#head/shown.ts'
import { HEAD_ONLY, text } from './results.ts'

/** Field of a row of lists that take `head`. */
export const headStatus = () =>
  Type.Optional({
    ...text(
      'Only with head=1: PACKED while the block of the row may still be replaced, otherwise IRREVERSIBLE.',
      '仅在 head=1 时出现：所在区块仍可能被替换时为 PACKED，否则为 IRREVERSIBLE。',
    ),
    [HEAD_ONLY]: true,
  })

/** The status of a row by its block, if that is not irreversible yet. */
export const statusOf = (above: BlockAbove | undefined): 'PACKED' | 'IRREVERSIBLE' =>
  above === undefined ? 'IRREVERSIBLE' : 'PACKED'
