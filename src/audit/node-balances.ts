import { parseExact, parseJson, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { balanceId, balances, type Frozen } from '#indices/balance.ts'
import type { StoredDocument } from '#store/port.ts'
import { compareCount } from './node-count.ts'
import { type NodeSides, type Row, reportDifference, storageRows } from './storage-rows.ts'

const TOKEN = 'token.iost'

/**
 * Compares every balance and frozen amount with the rows of token.iost. `TB<owner>-<token>` has the available
 * amount without frozen amounts that are due but not merged yet, `TF<owner>-<token>` has the frozen amounts.
 */
export async function compareBalances(sides: NodeSides): Promise<void> {
  const due = new Map<string, bigint>()
  for await (const page of storageRows(sides, TOKEN, 'TF')) await compareFrozen(sides, page, due)
  let positive = 0
  const compare = async (amounts: readonly (readonly [id: string, amount: bigint])[]): Promise<void> => {
    const ids = amounts.map(([id]) => id)
    const docs = await sides.stored.getMany(balances, ids)
    for (const [at, [id, amount]] of amounts.entries()) {
      if (amount > 0n) positive += 1
      const stored = docs[at]?.amount
      if ((stored ?? 0n) !== amount)
        reportDifference(sides, balances, {
          id,
          field: 'amount',
          stored: stored?.toString(),
          expected: String(amount),
        })
    }
    sides.onProgress(amounts.length)
  }
  for await (const page of storageRows(sides, TOKEN, 'TB')) {
    const amounts = balanceRows(page).map(([id, value]) => {
      const released = due.get(id) ?? 0n
      due.delete(id)
      return [id, BigInt(value) + released] as const
    })
    await compare(amounts)
  }
  // The remaining balances have only amounts that came due.
  await compare([...due])
  const counts = ({ doc }: StoredDocument<typeof balances>) => doc !== undefined && doc.amount > 0n
  await compareCount(sides, { index: balances, id: 'above zero', counts }, positive)
}

/** The rows of a (token, owner); other rows list an owner's tokens. Owners have no hyphen. */
const balanceRows = (page: readonly Row[]): readonly Row[] =>
  page.flatMap(([key, value]) => {
    const hyphen = key.indexOf('-')
    return hyphen < 0 ? [] : [[balanceId(key.slice(hyphen + 1), key.slice(0, hyphen)), value] as const]
  })

async function compareFrozen(sides: NodeSides, page: readonly Row[], due: Map<string, bigint>): Promise<void> {
  const rows = balanceRows(page)
  const ids = rows.map(([id]) => id)
  const docs = await sides.stored.getMany(balances, ids)
  for (const [at, [id, value]] of rows.entries()) {
    const entries = decodeFrozen(value)
    const now = sides.stored.at.time
    for (const [amount, time] of entries) if (BigInt(time) <= now) due.set(id, (due.get(id) ?? 0n) + BigInt(amount))
    const locked = writeJson(entries.filter(([, time]) => BigInt(time) > now))
    const stored = docs[at]?.frozen_list
    if (writeJson(stored ?? []) !== locked)
      reportDifference(sides, balances, {
        id,
        field: 'frozen_list',
        stored: stored && writeJson(stored),
        expected: locked,
      })
  }
}

/** Decodes a value that is JSON text of base64 of JSON: `[{"Amount":…,"Ftime":…}]`. */
function decodeFrozen(value: string): readonly Frozen[] {
  const list = parseExact(Buffer.from(parseJson(value) as string, 'base64').toString())
  return ((list as readonly { readonly Amount: unknown; readonly Ftime: unknown }[] | null) ?? []).map(
    ({ Amount, Ftime }) => [integer(Amount), integer(Ftime)] as const,
  )
}

function integer(value: unknown): string {
  const text = writeJson(value)
  if (!/^-?\d+$/.test(text)) throw new Failure('bad_block', `The node stores an invalid frozen amount: ${text}.`)
  return text
}
