import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { formatRoute, operationId, schemaName } from '#http/openapi/action-operation.ts'
import type { Form } from '#http/openapi/responses.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { argumentsOf, CHOICES, type Served, serveForGenerators } from './served.ts'

/**
 * A program that calls an action by its generated types, must not compile with a wrong name, and collects the answer
 * beside the one that it has by its type.
 */
async function callOf({ service }: Served, action: ApiAction, chosen: Partial<Form>): Promise<string> {
  const route = JSON.stringify(formatRoute(action))
  const parameters = argumentsOf(action, chosen)
  const query = new URLSearchParams({ ...action.example, ...chosen })
  const answer = await service.ask(`${formatRoute(action)}?${query}`, { headers: { 'x-api-key': service.key } })
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
async function programOf(served: Served, chosen: Partial<Form>, schema: string): Promise<string> {
  const calls: string[] = []
  for (const action of actions) calls.push(await callOf(served, action, chosen))
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
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  target: 'ESNext',
  module: 'Preserve',
  moduleResolution: 'bundler',
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
}
/** Libraries of a page, and in long runs of a Bun program. */
const LIBRARIES = [
  { lib: ['ESNext', 'DOM', 'DOM.AsyncIterable'], types: [] },
  ...(SOAK ? [{ lib: ['ESNext'], types: ['bun-types'] }] : []),
]

test('openapi-typescript: every answer has the generated type without casts, and the types of the client equal them', async () => {
  await using served = await serveForGenerators()
  const write = async (name: string, text: string) => Bun.write(join(served.folder, name), text)
  const generate = async (chosen: Partial<Form>, name: string) => {
    const cli = [process.execPath, 'node_modules/openapi-typescript/bin/cli.js']
    await runTool([...cli, await served.document(chosen), '--output', join(served.folder, name)])
  }
  for (const [at, chosen] of CHOICES.entries()) {
    await generate(chosen, `schema-${at}.ts`)
    await write(`program-${at}.ts`, await programOf(served, chosen, `schema-${at}.ts`))
  }
  await generate({ format: 'envelope', compat: 'none', numbers: 'string' }, 'own-schema.ts')
  await write('client.ts', await (await served.service.ask('/client.ts')).text())
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
