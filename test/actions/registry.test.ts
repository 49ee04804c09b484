import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { findScenes } from '#actions/example/choose.ts'
import { actions, modules } from '#actions/registry.ts'
import { listParameters, type SampleKind } from '#actions/request/query.ts'
import { findDescription } from '#actions/shape/results.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { askText } from '#test/support/stores/ask.ts'
import { ROOT } from '../support/root.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { examplesOf, missing } from './examples.ts'

/** The actions of the specified interface. Further actions follow their module between them. */
const SPECIFIED = Object.entries({
  base: ['get-overview', 'get-wealth-list'],
  account: ['get-account-detail', 'get-account-balance', 'get-subaccount-list', 'get-account-tx', 'get-token-list'],
  producer: ['get-producer-detail', 'get-producer-voter'],
  block: ['get-block-detail', 'get-latest-block', 'get-block-tx'],
  contract: ['get-contract-detail', 'get-contract-abi', 'get-contract-tx'],
  token: ['get-token-detail', 'get-token-holder'],
  transaction: ['get-transaction-detail', 'get-transaction-action', 'get-transaction-receipt'],
}).flatMap(([module, names]) => names.map(name => `${module} ${name}`))

test('actions: the twenty of the interface are listed in its order', () => {
  const named = actions.map(({ module, action }) => `${module} ${action}`)
  expect(named.filter(name => SPECIFIED.includes(name))).toEqual(SPECIFIED)
  expect(new Set(named).size).toBe(named.length)
  expect(modules).toEqual(['base', 'account', 'producer', 'block', 'contract', 'token', 'nft', 'transaction'])
})

test('actions: every action file is listed, and every action has a test', () => {
  const files = readdirSync(join(ROOT, 'src/actions')).filter(file => /^(?:get-.*|search)(?<!\.test)\.ts$/.test(file))
  const registry = readFileSync(join(ROOT, 'src/actions/registry.ts'), 'utf8')
  const listed = [...registry.matchAll(/from '\.\/((?:get-|search)[^']*)'/g)].map(([, file]) => file)
  expect(listed.toSorted()).toEqual(files.toSorted())
  const tests = readdirSync(import.meta.dir).filter(file => file.endsWith('.test.ts'))
  const texts = tests.map(file => readFileSync(join(import.meta.dir, file), 'utf8')).join('')
  expect(actions.map(formatActionName).filter(name => !texts.includes(`'${name}'`))).toEqual([])
})

describe.each(actions.map(action => [formatActionName(action), action] as const))('%s', (name, action) => {
  test('its parameters, fields and texts are described in both languages', () => {
    const texts = [
      action.title,
      action.summary,
      ...listParameters(action.params).flatMap(({ spec }) => [spec.description, spec.rule]),
      ...fieldsOf(action.result).map(field => findDescription(field) ?? { en: '', zh: '' }),
    ]
    expect(texts.filter(({ en, zh }) => en === '' || !/\p{Script=Han}|^[a-z_ +,.]+。$/u.test(zh))).toEqual([])
  })
  test('its example is answered in the declared shape', async () => {
    const data: unknown = JSON.parse(await askText(name, action.example))
    expect([...Value.Errors(action.result, data)].map(({ path, message }) => `${path}: ${message}`)).toEqual([])
  })
})

function fieldsOf(schema: TSchema): readonly TSchema[] {
  const { properties = {}, items }: Inside = schema
  const own = Object.values(properties)
  return [...own, ...[...own, ...(items === undefined ? [] : [items])].flatMap(fieldsOf)]
}

type Inside = TSchema & { readonly properties?: Readonly<Record<string, TSchema>>; readonly items?: TSchema }

test('actions: with compat=iostabc a list row has no seq, neither in the answer nor in the schema', async () => {
  const lists = actions.filter(({ list }) => list !== undefined)
  expect(lists.length).toBeGreaterThan(15)
  const found: string[] = []
  for (const action of lists) {
    const data: unknown = JSON.parse(await askText(formatActionName(action), action.example, { compat: 'iostabc' }))
    const shape = action.compatResult ?? action.result
    const own = [...Value.Errors(shape, data)].map(({ path, message }) => `${path}: ${message}`)
    const seqs = [JSON.stringify(data), JSON.stringify(shape)].filter(text => text.includes('"seq":'))
    if (own.length + seqs.length > 0) found.push(`${formatActionName(action)} ${own} ${seqs.length}`)
  }
  expect(found).toEqual([])
})

test('actions: a list with pages declares how it is read, so that it can be exported', () => {
  const paged = actions.filter(({ params }) => 'page' in params.properties)
  expect(paged.filter(({ source, list }) => source === undefined || list === undefined)).toEqual([])
})

test('examples: every action has an example with content on the recorded chain', async () => {
  const examples = await examplesOf(await loadedStore())
  expect(missing(examples)).toEqual([])
  for (const action of actions) {
    const chosen = Object.keys(examples.get(action)?.params ?? {})
    // The parameters are those of the action's own example, on any chain.
    expect(chosen.toSorted()).toEqual(Object.keys(action.example).toSorted())
  }
})

test('examples: a store with nothing loaded fails with that reason', async () => {
  await using place = await temporarySqlite()
  await expect(place.store.read(findScenes)).rejects.toThrow('nothing is loaded yet')
})

test('examples: a required parameter that accepts any value declares which kind of value it takes from the chain', () => {
  const open = actions.flatMap(({ action, params }) =>
    listParameters(params)
      .filter(({ required, spec }) => required && spec.values === undefined && spec.sample === undefined)
      .map(({ name }) => `${action} ${name}`),
  )
  expect(open).toEqual([])
})

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
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

/** Nodes far ahead of the store: one gives wrong answers, the other knows no transaction. */
const AHEAD = { headBlock: 99_999, libBlock: 99_998 }
const WRONG: Node = { ...spokenNode({}, AHEAD), get: () => Promise.reject(new Failure('bad_block', 'of a test')) }
const WITHOUT: Node = {
  ...spokenNode({}, AHEAD),
  get: (path, ...how) => spokenNode({ [path]: [notFound('tx')] }, AHEAD).get(path, ...how),
}

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

const kindOf = (name: string, params: ApiAction['example'], node: Node | undefined) =>
  askText(name, params, node === undefined ? {} : { deps: { node } }).then(
    () => undefined,
    (error: unknown) => (error instanceof Failure ? error.kind : Promise.reject(error)),
  )

test.each(actions.map(action => [formatActionName(action), action] as const))(
  'fails: %s fails with exactly the kinds that it declares',
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
