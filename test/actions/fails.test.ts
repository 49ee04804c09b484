import { expect, test } from 'bun:test'
import { type AnswerDeps, answer } from '#actions/answer.ts'
import { type Action, nameOf } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import type { Sample } from '#actions/request/parameters.ts'
import { parametersOf } from '#actions/request/query.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** What an action says of its failures is what it fails with, when it is asked for what is not there. */

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
/** Nothing of the recorded chain has these names. */
const NOWHERE: Readonly<Record<Sample, string>> = {
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

/** A node that is far ahead of the store. */
const ahead = (get: Node['get']): Node => {
  const heard: Partial<ReturnType<NonNullable<Node['heard']>>> = { headBlock: 99_999, libBlock: 99_998 }
  return { heard: () => heard, get } as unknown as Node
}
const WRONG = ahead(() => Promise.reject(new Failure('bad_block', 'of a test')))
const WITHOUT = ahead(async () => ({
  status: 400,
  contentType: 'application/json',
  body: new TextEncoder().encode('{"code":2,"message":"tx not found"}'),
  reaches: () => true,
  lookAgain: async () => undefined,
  isFirst: true,
  isUsable: () => true,
  release: () => undefined,
}))

/** The example with one of its things replaced; one of several names alone; ranges beyond the end; a row that was replaced. */
const callsOf = ({ params, example }: Action): readonly Action['example'][] => {
  const all = parametersOf(params)
  const named = all.flatMap(({ name, word: { sample } }) => {
    if (sample === undefined) return []
    const others = Object.entries(example).filter(
      ([other]) => !all.some(each => each.name === other && !each.required),
    )
    return [
      { ...example, [name]: NOWHERE[sample] },
      // A text may be any of these.
      { ...example, [name]: HASH },
      { ...Object.fromEntries(others), [name]: NOWHERE[sample] },
    ]
  })
  const ranged = all.some(({ name }) => name === 'end_block') ? [{ ...example, end_block: '4900' }] : []
  // A row of a block that another one has replaced.
  const behind = all.some(({ name }) => name === 'after')
    ? [{ ...example, head: '1', after: `000000004000-${HASH}` }]
    : []
  return [example, ...named, ...ranged, ...behind]
}

const kindOf = async (
  deps: AnswerDeps,
  { module, action }: Action,
  params: Action['example'],
): Promise<FailureKind | undefined> => {
  const query = Object.entries({ module, action, ...params })
  const options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' } as const
  try {
    await answer(deps, { query, options }, { signal: AbortSignal.timeout(600_000) })
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error.kind
    throw error
  }
}

test.each(actions.map(action => [nameOf(action), action] as const))(
  'fails: %s fails as it says, and in no other way of its own',
  async (_name, action) => {
    const none = { get: () => undefined }
    const store = await loadedStore()
    const met = new Set<FailureKind>()
    for (const node of [undefined, WRONG, WITHOUT])
      for (const params of callsOf(action)) {
        const deps = { store, node, prices: none, profiles: none, clock: systemClock }
        const kind = await kindOf(deps, action, params)
        if (kind !== undefined && kind !== 'bad_request') met.add(kind)
      }
    expect([...met].toSorted()).toEqual(action.fails.toSorted())
  },
  600_000,
)
