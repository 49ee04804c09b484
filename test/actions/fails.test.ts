import { expect, test } from 'bun:test'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters, type SampleKind } from '#actions/request/query.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { askText } from '../support/stores/ask.ts'

/** Requests for things that do not exist fail with exactly the kinds that an action declares. */

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
/** These names do not occur on the recorded chain. */
const NOWHERE: Readonly<Record<SampleKind, string>> = {
  account: 'nosuchacc',
  accounts: 'nosuchacc',
  action: 'nosuchaction',
  block: '4900',
  'block hash': HASH,
  collection: 'nosuchnfts',
  contract: `Contract${HASH}`,
  function: 'token.iost/transfer',
  day: '2031-01-01',
  nft: '9999',
  producer: 'nosuchacc',
  token: 'nosuchtoken',
  transaction: HASH,
  transactions: HASH,
}

/** A node far ahead of the store. */
function ahead(get: Node['get']): Node {
  const heard: Partial<ReturnType<NonNullable<Node['lastInfo']>>> = { headBlock: 99_999, libBlock: 99_998 }
  return { lastInfo: () => heard, get } as unknown as Node
}
const WRONG = ahead(() => Promise.reject(new Failure('bad_block', 'of a test')))
const WITHOUT = ahead(async () => ({
  status: 400,
  contentType: 'application/json',
  body: new TextEncoder().encode('{"code":2,"message":"tx not found"}'),
  reaches: () => true,
  refreshHeight: async () => undefined,
  isFirst: true,
  isUsable: () => true,
  release: () => undefined,
}))

/** Variants of the example: one value replaced, alternative names alone, a range beyond the end, a replaced row. */
function callsOf({ params, example }: ApiAction): readonly ApiAction['example'][] {
  const all = listParameters(params)
  const named = all.flatMap(({ name, spec: { sample } }) => {
    if (sample === undefined) return []
    const others = Object.entries(example).filter(([other]) => !all.some(each => each.name === other && !each.required))
    return [
      { ...example, [name]: NOWHERE[sample] },
      // A free text accepts any of these values.
      { ...example, [name]: HASH },
      { ...Object.fromEntries(others), [name]: NOWHERE[sample] },
    ]
  })
  const ranged = all.some(({ name }) => name === 'end_block') ? [{ ...example, end_block: '4900' }] : []
  // A row of a block that was replaced by another one.
  const behind = all.some(({ name }) => name === 'after')
    ? [{ ...example, head: '1', after: `000000004000-${HASH}` }]
    : []
  return [example, ...named, ...ranged, ...behind]
}

/** The kind of failure of a call; undefined: it succeeds. */
async function kindOf(name: string, params: ApiAction['example'], node: Node | undefined) {
  try {
    await askText(name, params, node === undefined ? {} : { deps: { node } })
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error.kind
    throw error
  }
}

test.each(actions.map(action => [formatActionName(action), action] as const))(
  'fails: %s fails with the kinds that it declares, and with no others',
  async (name, action) => {
    const met = new Set<FailureKind>()
    for (const node of [undefined, WRONG, WITHOUT])
      for (const params of callsOf(action)) {
        const kind = await kindOf(name, params, node)
        if (kind !== undefined && kind !== 'bad_request') met.add(kind)
      }
    expect([...met].toSorted()).toEqual(action.fails.toSorted())
  },
  600_000,
)
