import { expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020.js'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { rowName } from '#http/openapi/answer-schema.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const service = serviceOn(await loadedStore())

type Operation = {
  readonly parameters: readonly {
    readonly name: string
    readonly required: boolean
    readonly schema: object
  }[]
  readonly responses: {
    readonly 200: {
      readonly headers: Readonly<Record<string, unknown>>
      readonly content: Readonly<Record<string, unknown>>
    }
  }
}
type Document = { readonly paths: Readonly<Record<string, { readonly get: Operation }>> }

const documentFor = async (query: string): Promise<Document> =>
  (await (await service.ask(`/openapi.json?${query}`)).json()) as Document

/** Parameters of the action's example, of lists that may be long for their beginning; in long runs for all rows. */
function exampleOf({ params, example: { page, size, ...example } }: ApiAction): Readonly<Record<string, string>> {
  return SOAK || !Object.hasOwn(params.properties, 'end_seq') ? example : { ...example, end_seq: '1000' }
}

const readLines = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

const listActions = actions.filter(({ list }) => list !== undefined)

test.each([
  { format: 'ndjson' },
  { format: 'ndjson', numbers: 'string' },
  { format: 'ndjson', compat: 'iostabc', numbers: 'string' },
])('openapi: lines of whole lists with %p match their document', async chosen => {
  const document = await documentFor(String(new URLSearchParams(chosen)))
  const ajv = new Ajv2020({ strict: false }).addSchema(document, 'document')
  const isComplete = ajv.compile({ $ref: 'document#/components/schemas/Complete' })
  for (const action of listActions) {
    const isRow = ajv.compile({ $ref: `document#/components/schemas/${rowName(action)}` })
    const query = new URLSearchParams({ ...exampleOf(action), ...chosen })
    const response = await service.ask(`${formatRoute(action)}?${query}`, { headers: { 'x-api-key': service.key } })
    const lines = readLines(await response.text())
    expect([action.action, lines.slice(0, -1).filter(line => !isRow(line))]).toEqual([action.action, []])
    expect([action.action, isComplete(lines.at(-1))]).toEqual([action.action, true])
  }
})

test.each([
  ['get-account-tx', 'account=busyhub&direction=in&min_amount=5'],
  ['get-account-tx', 'account=admin,tokenboss&memo_prefix=t'],
  ['get-contract-tx', 'contract=token.iost&counterparty=busyhub'],
  ['get-token-tx', 'token=iost&counterparty=user_001&min_amount=1'],
])('openapi: lines of %s found by %s match their document', async (name, query) => {
  const document = await documentFor('format=ndjson')
  const action = listActions.find(each => each.action === name)
  if (action === undefined) throw new Error(`There is no ${name}.`)
  const ajv = new Ajv2020({ strict: false }).addSchema(document, 'document')
  const isRow = ajv.compile({ $ref: `document#/components/schemas/${rowName(action)}` })
  const response = await service.ask(`${formatRoute(action)}?format=ndjson&${query}`, {
    headers: { 'x-api-key': service.key },
  })
  const lines = readLines(await response.text())
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.slice(0, -1).filter(line => !isRow(line) || typeof (line as { id?: unknown }).id !== 'string')).toEqual(
    [],
  )
})

test.each([
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv'],
])(
  'openapi: the document for %s has only the lists, without pages, with the headers that are sent',
  async (format, type) => {
    const { paths } = await documentFor(`format=${format}`)
    expect(Object.keys(paths).filter(path => path.startsWith('/api'))).toEqual(listActions.map(formatRoute))
    for (const action of listActions) {
      const operation = paths[formatRoute(action)]?.get
      expect(operation?.parameters.filter(({ name }) => ['page', 'size', 'format'].includes(name))).toMatchObject([
        { name: 'format', required: true, schema: { type: 'string', enum: [format] } },
      ])
      const { page, size, ...given } = action.example
      const response = await service.ask(`${formatRoute(action)}?${new URLSearchParams({ ...given, format })}`, {
        headers: { 'x-api-key': service.key },
      })
      expect(response.headers.get('content-type')).toStartWith(type)
      expect(Object.keys(operation?.responses[200].content ?? {})).toEqual([type])
      for (const name of Object.keys(operation?.responses[200].headers ?? {}))
        expect([action.action, name, response.headers.has(name)]).toEqual([action.action, name, true])
      await response.body?.cancel()
    }
  },
)

test('openapi: the document of feeds has the parameters with which some feed of the action can be opened', async () => {
  const { paths } = await documentFor('format=sse')
  const namesOf = (path: string) => paths[`/api/${path}`]?.get.parameters.map(({ name }) => name) ?? []
  const asked = ['start_seq', 'start_block', 'end_block', 'after', 'page', 'sort', 'step', 'csv']
  const taken = (path: string) => asked.filter(name => namesOf(path).includes(name))
  expect(taken('base/get-block-list')).toEqual(['start_seq'])
  expect(taken('producer/get-reward-history')).toEqual(['start_seq'])
  // With filters its rows are found by a search and have no seq.
  expect(taken('account/get-account-tx')).toEqual(['start_seq', 'start_block', 'after'])
})
