import { afterAll, expect, test } from 'bun:test'
import { basename, dirname, join } from 'node:path'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import type { Form } from '#http/openapi/action-operation.ts'
import { formatRoute, NOTHING, operationId, schemaName } from '#http/openapi/action-operation.ts'
import { pythonTools, runTool } from '#test/support/processes/run-tool.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { ROOT } from '#test/support/root.ts'
import { serveForGenerators } from './served.ts'

/** The document as a linter, a maker of requests, and generators of clients read it. */

const served = await serveForGenerators()
const { get } = served.service
afterAll(() => served[Symbol.asyncDispose]())

/** The options of the documents that clients are generated from: those of most callers, and in long runs others. */
const CHOICES: readonly Partial<Form>[] = [
  {},
  ...(SOAK ? [{ format: 'bare', compat: 'iostabc', numbers: 'string' } as const] : []),
]

/** Arguments for the parameters of an action's example, with numbers as numbers. */
function argumentsOf({ params, example }: ApiAction, chosen: Partial<Form>) {
  const types = new Map(listParameters(params).map(({ name, spec }) => [name, spec.type]))
  const own = Object.entries(example).map(([name, text]) => [name, types.get(name) === 'integer' ? Number(text) : text])
  return { ...Object.fromEntries(own), ...chosen }
}

test('redocly lint: the document has no error with any options', async () => {
  const documents: string[] = []
  for (const chosen of [...CHOICES, { export: 'ndjson' }, { export: 'csv' }] as const)
    documents.push(await served.document(chosen))
  const cli = [process.execPath, 'node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json']
  // Without requests to the network. The exit code is not 0 when there is an error.
  const environment = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
  const report = await runTool([...cli, '--extends=recommended', ...documents], { environment })
  expect(report.match(/"errors": *0\b/g)?.length).toBe(documents.length)
})

/**
 * The check that valid values are accepted is off, because the tool knows values only one by one, without their meaning:
 * both of `number` and `hash` must belong to one block, and a range must not end before it starts. What the pattern of a
 * parameter accepts is checked in `openapi.test.ts`.
 */
const NOT_CHECKED = 'positive_data_acceptance'

/** One route per action, and the route that takes any action. */
const OPERATIONS = actions.length + 1
const EXAMPLES = 'examples,fuzzing'
type FuzzRun = readonly [
  paths: string,
  phases: string,
  chosen: Partial<Form>,
  operations: number,
  least: number,
  most: number,
]
/** The paths, the least number of cases, and the greatest for each operation. A fifth of the many is derived from the document. */
const LONG_RUNS: readonly FuzzRun[] = [
  ['^/api(/|$)', 'examples,coverage,fuzzing', {}, OPERATIONS, 5_000, Math.ceil(4_000 / OPERATIONS)],
  ['^/api(/|$)', EXAMPLES, { numbers: 'string' }, OPERATIONS, OPERATIONS * 10, 10],
]

// In every run `openapi.test.ts` makes requests of all operations without this tool, which is slow.
test.each<FuzzRun>([['^/api/block/get-block-detail$', EXAMPLES, {}, 1, 20, 20], ...(SOAK ? LONG_RUNS : [])])(
  'schemathesis: requests made from the document get documented answers: %s, %s, %p',
  async (...given) => {
    const [paths, phases, chosen, operations, least, most] = given
    const command = [
      ...[await pythonTools(), '-m', 'schemathesis.cli', 'run', await served.document(chosen), '--no-color'],
      ...['--url', served.url, '--include-path-regex', paths, '--header', `X-API-Key: ${served.service.key}`],
      ...['--checks', 'all', '--exclude-checks', NOT_CHECKED, '--phases', phases],
      ...['--seed', '1', '--max-examples', String(most)],
      // Two keys in one request are refused, so only the key in the header is used.
      ...['--generation-with-security-parameters', 'false', '--generation-database', 'none'],
      ...['--no-shrink', '--continue-on-failure', '--suppress-health-check', 'all', '--warnings', 'off'],
    ]
    const environment = {
      SCHEMATHESIS_HOOKS: join(import.meta.dir, 'untargeted.py'),
      PYTHONDONTWRITEBYTECODE: '1',
      // Tables of Unicode, which take seconds to compute.
      HYPOTHESIS_STORAGE_DIRECTORY: join(ROOT, '.cache/python/hypothesis'),
    }
    // The tool writes notes of a run into its working directory.
    const report = await runTool(command, { environment, folder: served.folder })
    const [, selected] = /Selected: (\d+)/.exec(report) ?? []
    const [, generated] = /(\d+) generated/.exec(report) ?? []
    expect([Number(selected), Number(generated) >= least]).toEqual([operations, true])
  },
  1_800_000,
)

/** `getAccountTx` → `get_account_tx`, as the generator names functions. */
const formatFunction = (action: ApiAction): string =>
  operationId(action).replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Called for an account that no chain has. */
const UNKNOWN = 'get_account_detail'

/** Generates a client from the document for these options, and calls every action with it. */
async function callAll(chosen: Partial<Form>): Promise<unknown> {
  const [python, document] = [await pythonTools(), await served.document(chosen)]
  const name = basename(document, '.json').replace('-', '_')
  const generate = [python, '-m', 'openapi_python_client', 'generate', '--meta', 'none', '--fail-on-warning']
  // The generator formats its output with another program in PATH.
  const environment = { PATH: `${dirname(python)}:${process.env['PATH']}` }
  await runTool([...generate, '--path', document, '--output-path', join(served.folder, name)], { environment })
  const calls = actions.map(action => ({
    tag: action.module,
    function: formatFunction(action),
    parameters: argumentsOf(action, chosen),
  }))
  calls.push({ tag: 'account', function: UNKNOWN, parameters: { account: 'nobody_here', ...chosen } })
  const { folder, url, service } = served
  const input = JSON.stringify({ folder, package: name, url, key: service.key, calls })
  return JSON.parse(await runTool([python, join(import.meta.dir, 'call_actions.py')], { input }))
}

test('openapi-python-client: every action is called, and its class contains the whole answer', async () => {
  for (const chosen of CHOICES) {
    const typeOf = (action: ApiAction) =>
      chosen.format === 'bare' ? schemaName(action) : `${schemaName(action)}Response200`
    const answers = actions.map(action => ({ function: formatFunction(action), status: 200, type: typeOf(action) }))
    const none = chosen.compat === 'iostabc' ? { status: 200, type: NOTHING.name } : { status: 404, type: 'Error' }
    const expected = [...answers, { function: UNKNOWN, ...none }]
    expect(await callAll(chosen)).toEqual(expected.map(each => ({ ...each, same: true })))
  }
}, 900_000)

/**
 * A program that calls an action by its generated types, must not compile with a wrong name, and collects the answer
 * beside the one that it has by its type.
 */
async function callOf(action: ApiAction, chosen: Partial<Form>): Promise<string> {
  const route = JSON.stringify(formatRoute(action))
  const parameters = argumentsOf(action, chosen)
  const query = new URLSearchParams({ ...action.example, ...chosen })
  const answer = await get(`${formatRoute(action)}?${query}`)
  return `{
  const { data, error, response } = await client.GET(${route}, { params: { query: ${JSON.stringify(parameters)} } })
  if (data === undefined) throw new Error(\`\${response.status} \${error.code} \${error.message} \${error.request_id}\`)
  const known: Answer<${route}> = ${await answer.text()}
  answers.push([${route}, data, known])
  // @ts-expect-error a name that the action does not have
  const strange: Query<${route}> = ${JSON.stringify({ ...parameters, nonsense: 1 })}
  const other = await client.GET(${route}, { params: { query: strange } })
  refusals.add(other.error?.code)
}
`
}

/** The program for a document, with the generator's types. */
async function programOf(chosen: Partial<Form>, schema: string): Promise<string> {
  const calls: string[] = []
  for (const action of actions) calls.push(await callOf(action, chosen))
  const settings = { baseUrl: served.url, headers: { 'X-API-Key': served.service.key } }
  return `import createClient from 'openapi-fetch'
import type { paths } from './${schema}'
type Answer<P extends keyof paths> = paths[P] extends
  { get: { responses: { 200: { content: { 'application/json': infer A } } } } } ? A : never
type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? Q : never
const client = createClient<paths>(${JSON.stringify(settings)})
export const answers: [route: string, data: unknown, known: unknown][] = []
export const refusals = new Set<number | undefined>()
${calls.join('')}`
}

/** The document's types and the client's own must be assignable to each other. */
const writeSameTypes = (action: ApiAction): string => `
  true satisfies Same<own.${schemaName(action)}, Data<${JSON.stringify(formatRoute(action))}>>,
  true satisfies Same<own.${schemaName(action)}Params, Query<${JSON.stringify(formatRoute(action))}>>,`

function writeOwnCall(action: ApiAction): string {
  const [given, name] = [JSON.stringify(argumentsOf(action, {})), operationId(action)]
  return `  const ${name}: Data<${JSON.stringify(formatRoute(action))}> = await client.${name}(${given})
  void ${name}
  // @ts-expect-error a name that the action does not have
  await client.${name}({ ...${given}, nonsense: 1 } satisfies own.${schemaName(action)}Params)
`
}

/** A program that compiles only if each type of the client equals that of the document. */
const OWN_PROGRAM = `import type { paths } from './own-schema.ts'
import * as own from './client.ts'
type Get<P extends keyof paths> = paths[P] extends { get: infer G } ? G : never
type Data<P extends keyof paths> = Get<P> extends
  { responses: { 200: { content: { 'application/json': { data: infer D } } } } } ? D : never
type Query<P extends keyof paths> = Get<P> extends { parameters: { query: infer Q } }
  ? Omit<Q, 'format' | 'compat' | 'numbers' | 'lang'> : never
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : 'the document has less') : 'the document has more'
export const same: readonly true[] = [${actions.map(writeSameTypes).join('')}
]
const client = own.createClient({ url: 'http://127.0.0.1', key: '' })
export const calls = async () => {
${actions.map(writeOwnCall).join('')}
  for await (const { seq, tx_hash } of client.getAccountTx.rows({ account: 'busyhub' })) void [seq + 1, tx_hash.length]
  for await (const { total } of client.getTokenHolder.pages({ token: 'iost' })) void (total + 1)
  for await (const { seq } of client.getAccountTx.follow({ account: 'busyhub', start_seq: 1 })) void (seq + 1)
  for await (const told of client.getAccountTx.followHead({ account: 'busyhub' }))
    void (told.event === 'dropped' ? told.from_block.length : told.row.tx_hash.length)
  for await (const { balance } of client.getTokenHolder.whole({ token: 'iost' })) void balance.length
}
`

const OPTIONS = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noUnusedLocals: true, noUnusedParameters: true, noEmit: true, skipLibCheck: true },
  ...{ target: 'ESNext', module: 'Preserve', moduleResolution: 'bundler', allowImportingTsExtensions: true },
}
/** Libraries of a page, and in long runs of a Bun program. */
const LIBRARIES = [
  { lib: ['ESNext', 'DOM', 'DOM.AsyncIterable'], types: [] },
  ...(SOAK ? [{ lib: ['ESNext'], types: ['bun-types'] }] : []),
]

test('openapi-typescript: every answer has the generated type without casts, and the types of the client equal them', async () => {
  const write = async (name: string, text: string) => Bun.write(join(served.folder, name), text)
  const generate = async (chosen: Partial<Form>, name: string) => {
    const cli = [process.execPath, 'node_modules/openapi-typescript/bin/cli.js']
    await runTool([...cli, await served.document(chosen), '--output', join(served.folder, name)])
  }
  for (const [at, chosen] of CHOICES.entries()) {
    await generate(chosen, `schema-${at}.ts`)
    await write(`program-${at}.ts`, await programOf(chosen, `schema-${at}.ts`))
  }
  await generate({ format: 'envelope', compat: 'none', numbers: 'string' }, 'own-schema.ts')
  await write('client.ts', await (await get('/client.ts')).text())
  await write('own-program.ts', OWN_PROGRAM)
  for (const libraries of LIBRARIES) {
    await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...OPTIONS, ...libraries }, include: ['*.ts'] }))
    const tsc = 'node_modules/typescript/bin/tsc'
    await runTool([process.execPath, tsc, '-p', join(served.folder, 'tsconfig.json')])
  }
  for (const [at, chosen] of CHOICES.entries()) {
    const { answers, refusals } = await import(join(served.folder, `program-${at}.ts`))
    expect(answers.map(([route]: readonly string[]) => route)).toEqual(actions.map(formatRoute))
    for (const [route, data, known] of answers) expect([route, data]).toEqual([route, known])
    // Programs of the old service send unknown names, which it ignored.
    expect([...refusals]).toEqual([chosen.compat === 'iostabc' ? undefined : 4000])
  }
})
