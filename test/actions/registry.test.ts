import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { formatActionName } from '#actions/define.ts'
import { findScenes } from '#actions/example/choose.ts'
import { actions, modules } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { findDescription } from '#actions/shape/results.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { ROOT } from '../support/root.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { examplesOf, missing } from './examples.ts'

/** The actions of the specified interface. Further actions follow their module between them. */
const SPECIFIED = [
  'base get-overview',
  'base get-wealth-list',
  'account get-account-detail',
  'account get-account-balance',
  'account get-subaccount-list',
  'account get-account-tx',
  'account get-token-list',
  'producer get-producer-detail',
  'producer get-producer-voter',
  'block get-block-detail',
  'block get-latest-block',
  'block get-block-tx',
  'contract get-contract-detail',
  'contract get-contract-abi',
  'contract get-contract-tx',
  'token get-token-detail',
  'token get-token-holder',
  'transaction get-transaction-detail',
  'transaction get-transaction-action',
  'transaction get-transaction-receipt',
]

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
  test('its example has the same answer with numbers as text', async () => {
    const plain = JSON.parse(await askText(name, action.example))
    const quoted = await ask(name, action.example)
    expect(Object.keys(quoted)).toEqual(Object.keys(plain))
    const lost = [...differing(plain, quoted)].filter(([a, b]) => typeof a !== 'number' || Number(b) !== a)
    expect(lost).toEqual([])
  })
})

/** Every named field of a schema, including those inside lists and objects. */
function fieldsOf(schema: TSchema): readonly TSchema[] {
  const { properties = {}, items }: Inside = schema
  const own = Object.values(properties)
  return [...own, ...[...own, ...(items === undefined ? [] : [items])].flatMap(fieldsOf)]
}

type Inside = TSchema & { readonly properties?: Readonly<Record<string, TSchema>>; readonly items?: TSchema }

/** Leaves that differ between two trees of the same shape. */
const differing = function* (a: unknown, b: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null)
    for (const key of Object.keys(a)) yield* differing(Reflect.get(a, key), Reflect.get(b, key))
  else if (a !== b) yield [a, b]
}

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
  const { store, destroy } = await temporarySqlite()
  await expect(store.read(findScenes)).rejects.toThrow('nothing is loaded yet')
  await destroy()
})

test('examples: a required parameter that accepts any value declares which kind of value it takes from the chain', () => {
  const open = actions.flatMap(({ action, params }) =>
    listParameters(params)
      .filter(({ required, spec }) => required && spec.values === undefined && spec.sample === undefined)
      .map(({ name }) => `${action} ${name}`),
  )
  expect(open).toEqual([])
})
