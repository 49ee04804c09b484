import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks, listBlockHashes, listTransactionIds } from '#indices/block.ts'
import { blockId, recordId } from '#indices/position.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import type { Audit } from '#store/port.ts'

/** A block with its stored transactions and rows. */
export type StoredBlock = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

/** Blocks per read. */
const AT_ONCE = 100
/** Rows of a transaction requested at first, and the factor of further requests while all requested rows exist. */
const [ROWS, MORE] = [2, 8]

/** Whole blocks from height `from` to `to`, in order. Throws 'damaged' when a block or transaction is missing. */
export const storedHistory = async function* (
  audit: Pick<Audit, 'getMany'>,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<StoredBlock> {
  for (let first = from; first <= to; first += AT_ONCE) {
    const last = Math.min(to, first + AT_ONCE - 1)
    const heights = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const heads = whole(blocks.name, heights.map(blockId), await audit.getMany(blocks, heights.map(blockId)))
    const ids = heads.flatMap(listTransactionIds)
    const texts = Map.groupBy(
      whole(transactions.name, ids, await audit.getMany(transactions, ids)),
      ({ height }) => height,
    )
    const rows = Map.groupBy(await readBlockRows(audit, heads), ({ height }) => height)
    for (const block of heads)
      yield {
        block,
        transactions: texts.get(block.height) ?? [],
        records: rows.get(block.height) ?? [],
      }
  }
}

const whole = <D>(index: string, ids: readonly string[], docs: readonly (D | undefined)[]): readonly D[] =>
  docs.map((doc, at) => {
    if (doc !== undefined) return doc
    throw new Failure('damaged', `${index}: ${ids[at]} is missing or cannot be read.`, {
      help: "Run: 'iostlens repair --node URL'.",
      details: { index },
    })
  })

type Looked = { readonly height: number; readonly tx: number; readonly from: number; readonly to: number }

/** The rows of all transactions of some blocks, in order. A transaction's rows are numbered without a gap. */
async function readBlockRows(audit: Pick<Audit, 'getMany'>, heads: readonly BlockDoc[]): Promise<readonly RecordDoc[]> {
  let looks: readonly Looked[] = heads.flatMap(block =>
    listBlockHashes(block).map((_, tx) => ({ height: block.height, tx, from: 0, to: ROWS })),
  )
  const found: RecordDoc[] = []
  while (looks.length > 0) {
    const ids = looks.flatMap(({ height, tx, from, to }) =>
      Array.from({ length: to - from }, (_, at) => recordId(height, tx, from + at)),
    )
    const docs = await audit.getMany(records, ids)
    let at = 0
    const further: Looked[] = []
    for (const look of looks) {
      const rows = docs.slice(at, at + look.to - look.from)
      at += rows.length
      for (const row of rows) if (row !== undefined) found.push(row)
      if (rows.at(-1) !== undefined) further.push({ ...look, from: look.to, to: look.to * MORE })
    }
    looks = further
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))
}
