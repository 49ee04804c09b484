import { Type } from '@sinclair/typebox'
import type { HeadBlock } from '#head/head-state.ts'
import { HEAD_ONLY, text } from './results.ts'

const headOnly = (en: string, zh: string) => Type.Optional({ ...text(en, zh), [HEAD_ONLY]: true })

/** Fields that rows have only with `head=1`. */
export const headFields = () => ({
  id: headOnly(
    'Only with head=1: names the row and its block, before the block is irreversible and after. A row of another block in its place has another id.',
    '仅在 head=1 时出现：标识该行及其所在区块，在区块变为不可逆前后保持不变。取代它的其他区块中的记录有不同的 id。',
  ),
  status: headOnly(
    'Only with head=1: PACKED while the block of the row may still be replaced, otherwise IRREVERSIBLE.',
    '仅在 head=1 时出现：所在区块仍可能被替换时为 PACKED，否则为 IRREVERSIBLE。',
  ),
})

/** The status of a row; `above`: its block, if that is not yet irreversible. */
export const toRowStatus = (above: HeadBlock | undefined): 'PACKED' | 'IRREVERSIBLE' =>
  above === undefined ? 'IRREVERSIBLE' : 'PACKED'
