import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import type { Form } from '#http/openapi/responses.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { argumentsOf, CHOICES, type Served, serveForGenerators } from './served.ts'

/** The answer to an action's example, as text. */
async function answerOf({ service }: Served, action: ApiAction, chosen: Partial<Form>): Promise<string> {
  const query = new URLSearchParams({ ...action.example, ...chosen })
  const answer = await service.ask(`${formatRoute(action)}?${query}`, { headers: { 'x-api-key': service.key } })
  return answer.text()
}

/**
 * A program that calls an action by its generated types, must not compile with a wrong name, and checks the
 * type of an answer.
 */
function callOf(action: ApiAction, parameters: string, answer: string): string {
  const route = JSON.stringify(formatRoute(action))
  const withNonsense = JSON.stringify({ ...JSON.parse(parameters), nonsense: 1 })
  return `{
  const { data, error, response } = await client.GET(${route}, { params: { query: ${parameters} } })
  if (data === undefined) throw new Error(\`\${response.status} \${error.code} \${error.message} \${error.request_id}\`)
  answers.set(${route}, data)
  const known: Answer<${route}> = ${answer}
  if (!Bun.deepEquals(known, data, true)) throw new Error(${route})
  // @ts-expect-error a name that the action does not have
  const strange: Query<${route}> = ${withNonsense}
  const other = await client.GET(${route}, { params: { query: strange } })
  refusals.add(other.error?.code)
}
`
}

/** The program for a document, with the generator's types. */
async function programOf(served: Served, chosen: Partial<Form>, schema: string): Promise<string> {
  const calls: string[] = []
  for (const action of actions)
    calls.push(callOf(action, JSON.stringify(argumentsOf(action, chosen)), await answerOf(served, action, chosen)))
  return `import createClient from 'openapi-fetch'
import type { paths } from './${schema}'
type Answer<P extends keyof paths> = paths[P] extends
  { get: { responses: { 200: { content: { 'application/json': infer A } } } } } ? A : never
type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? Q : never
const client = createClient<paths>({
  baseUrl: ${JSON.stringify(served.url)},
  headers: { 'X-API-Key': ${JSON.stringify(served.service.key)} },
})
export const answers = new Map<string, unknown>()
export const refusals = new Set<number | undefined>()
${calls.join('')}`
}

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  target: 'ESNext',
  module: 'Preserve',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  types: ['bun-types'],
}

test('openapi-typescript, openapi-fetch: every action is called and its answer has the generated type, without casts', async () => {
  await using served = await serveForGenerators()
  const programs: string[] = []
  for (const [at, chosen] of CHOICES.entries()) {
    const schema = `schema-${at}.ts`
    const document = await served.document(chosen)
    const output = join(served.folder, schema)
    const cli = 'node_modules/openapi-typescript/bin/cli.js'
    await runTool([process.execPath, cli, document, '--output', output])
    const program = join(served.folder, `program-${at}.ts`)
    await Bun.write(program, await programOf(served, chosen, schema))
    programs.push(program)
  }
  const config = join(served.folder, 'tsconfig.json')
  await Bun.write(config, JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }))
  await runTool([process.execPath, 'node_modules/typescript/bin/tsc', '-p', config])
  for (const [at, program] of programs.entries()) {
    const { answers, refusals } = await import(program)
    expect([...answers.keys()]).toEqual(actions.map(formatRoute))
    // Programs of the old service send unknown names, which it ignored.
    expect([...refusals]).toEqual([CHOICES[at]?.compat === 'iostabc' ? undefined : 4000])
  }
})
