import { fromUnits } from '#chain/amount.ts'
import type { Chain } from './chain.ts'
import { truthAt } from './truth.ts'

/** The request body of `listContractStorage`. */
export type StorageQuestion = {
  readonly id: string
  readonly prefix: string
  readonly from?: string | null
  readonly limit: string
}

type Row = readonly [key: string, value: string]

const DECIMALS = 8
const SIGN_UP = 'auth.iost/signUp'

/**
 * Rows of a contract's maps after block `height`, as a node lists them. Balances and frozen amounts of
 * token.iost and votes of vote.iost come from the truth, accounts of auth.iost from the receipts of their
 * sign-ups, which are never changed later.
 */
export function chainStorage(chain: Chain) {
  /** The rows of the last requested height. */
  let known: { readonly height: number; readonly maps: Map<string, readonly Row[]> } | undefined
  const accounts = new Map<string, Row>()
  let scanned = -1

  const scanTo = (height: number): void => {
    for (let at = scanned + 1; at <= height; at += 1)
      for (const text of chain.block(at).texts) for (const row of signUpsIn(text)) accounts.set(row[0], row)
    scanned = Math.max(scanned, height)
  }
  const rowsOf = (height: number, id: string, prefix: string): readonly Row[] => {
    if (id === 'auth.iost') {
      scanTo(height)
      return sorted([...accounts.values()])
    }
    const truth = truthAt(chain.world, height)
    if (id === 'vote.iost')
      return votesOf(
        truth.voters,
        chain.world.producers.map(({ account }) => account),
      )
    if (prefix === 'TF')
      return sorted(
        [...new Set(truth.wealth().map(({ owner }) => owner))].flatMap((owner): readonly Row[] => {
          const frozen = truth.frozen('iost', owner)
          return frozen.length === 0 ? [] : [[`TF${owner}-iost`, frozenText(frozen)]]
        }),
      )
    return sorted(
      truth
        .tokens()
        .flatMap(token => truth.holders(token).map(([owner, units]): Row => [`TB${owner}-${token}`, String(units)])),
    )
  }
  return (height: number, { id, prefix, from, limit }: StorageQuestion): readonly Row[] => {
    if (known?.height !== height) known = { height, maps: new Map() }
    const key = `${id} ${prefix}`
    const rows = known.maps.get(key) ?? rowsOf(height, id, prefix)
    known.maps.set(key, rows)
    return rows.filter(([name]) => name >= (from ?? '')).slice(0, Number(limit))
  }
}

const sorted = (rows: readonly Row[]): readonly Row[] => rows.toSorted(([a], [b]) => (a < b ? -1 : 1))

function frozenText(frozen: readonly { readonly units: bigint; readonly due: bigint }[]): string {
  const entries = frozen.map(({ units, due }) => `{"Amount":${units},"Ftime":${due}}`)
  return JSON.stringify(Buffer.from(`[${entries.join(',')}]`).toString('base64'))
}

/** The votes by voter. Objects are written as text, since voters have names like `__proto__`. */
function votesOf(
  votersOf: (producer: string) => readonly (readonly [string, bigint])[],
  producers: readonly string[],
): readonly Row[] {
  const byVoter = new Map<string, readonly string[]>()
  for (const producer of producers)
    for (const [voter, units] of votersOf(producer))
      byVoter.set(voter, [
        ...(byVoter.get(voter) ?? []),
        `${JSON.stringify(producer)}:["${fromUnits(units, DECIMALS)}"]`,
      ])
  return sorted([...byVoter].map(([voter, votes]): Row => [`u_1-${voter}`, `{${votes.join(',')}}`]))
}

function signUpsIn(text: string): readonly Row[] {
  if (!text.includes(SIGN_UP)) return []
  const { tx_receipt } = JSON.parse(text) as {
    readonly tx_receipt: {
      readonly receipts: readonly { readonly func_name: string; readonly content: string }[]
    }
  }
  return tx_receipt.receipts
    .filter(({ func_name }) => func_name === SIGN_UP)
    .map(({ content }): Row => {
      const [name = '', owner = '', active = ''] = JSON.parse(content) as readonly string[]
      const permission = (which: string, id: string): string =>
        `"${which}":{"name":"${which}","groups":[],"items":[{"id":"${id}","is_key_pair":true,"weight":100}],"threshold":100}`
      return [
        `auth-${name}`,
        `{"id":${JSON.stringify(name)},"groups":{},"permissions":{${permission('active', active)},${permission('owner', owner)}}}`,
      ]
    })
}
