import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '../nodes/recording.ts'
import { type PlainChain, type PlainRow, plainChain } from './plain-records.ts'

let recorded: Promise<PlainChain> | undefined

/** All rows and lists of the recorded chain, oldest first, computed from the blocks once per process. */
export function plainRecording(): Promise<PlainChain> {
  recorded ??= recordedBlocks().then(blocks => plainChain(blocks.map(({ block }) => block)))
  return recorded
}

export const plainLists = async (): Promise<PlainChain['lists']> => (await plainRecording()).lists

/** A plain row in the form of `compat=iostabc`, without `amount`. */
export const shownPlainRow = (row: PlainRow) => ({
  contract: row.contract,
  action_name: row.action,
  data: row.data,
  block: String(row.height),
  tx_hash: row.hash,
  from: row.from,
  to: row.to,
  created_at: toIso(row.time),
  index: row.index,
  return: row.returned,
  status_code: row.status,
})
