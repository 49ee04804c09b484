import { test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { formatRoute, operationId } from '#http/openapi/action-operation.ts'
import { schemaName } from '#http/openapi/answer-schema.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { argumentsOf, serveForGenerators } from '../generators/served.ts'

/** A program that compiles only if each type of the client and the document's type are assignable to each other. */
const PROGRAM = `import type { paths } from './schema.ts'
import * as own from './client.ts'
type Get<P extends keyof paths> = paths[P] extends { get: infer G } ? G : never
type Data<P extends keyof paths> = Get<P> extends
  { responses: { 200: { content: { 'application/json': { data: infer D } } } } } ? D : never
type Query<P extends keyof paths> = Get<P> extends { parameters: { query: infer Q } }
  ? Omit<Q, 'format' | 'compat' | 'numbers' | 'lang'> : never
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : 'the document has less') : 'the document has more'
export const same: readonly true[] = [
${actions
  .map(action => {
    const name = schemaName(action)
    const route = JSON.stringify(formatRoute(action))
    return `  true satisfies Same<own.${name}, Data<${route}>>,
  true satisfies Same<own.${name}Params, Query<${route}>>,
`
  })
  .join('')}]
const client = own.createClient({ url: 'http://127.0.0.1', key: '' })
export const calls = async () => {
${actions
  .map(action => {
    const given = JSON.stringify(argumentsOf(action, {}))
    const name = operationId(action)
    return `  const ${name}: Data<${JSON.stringify(formatRoute(action))}> = await client.${name}(${given})
  void ${name}
  // @ts-expect-error a name that the action does not have
  await client.${name}({ ...${given}, nonsense: 1 } satisfies own.${schemaName(action)}Params)
`
  })
  .join(
    '',
  )}  for await (const { seq, tx_hash } of client.getAccountTx.rows({ account: 'busyhub' })) void [seq + 1, tx_hash.length]
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
  target: 'ESNext',
  module: 'Preserve',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  // Libraries of a page, and of a Bun program.
  lib: ['ESNext', 'DOM', 'DOM.AsyncIterable'],
  types: [] as readonly string[],
}

test('client: its types equal those of the document, in programs of pages and in long runs of Bun', async () => {
  await using served = await serveForGenerators()
  const document = await served.document({ format: 'envelope', compat: 'none', numbers: 'string' })
  const schema = join(served.folder, 'schema.ts')
  const generator = 'node_modules/openapi-typescript/bin/cli.js'
  await runTool([process.execPath, generator, document, '--output', schema])
  await Bun.write(join(served.folder, 'client.ts'), await (await served.service.ask('/client.ts')).text())
  await Bun.write(join(served.folder, 'program.ts'), PROGRAM)
  const ofBun = { ...OPTIONS, lib: ['ESNext'], types: ['bun-types'], skipLibCheck: true }
  for (const options of SOAK ? [OPTIONS, ofBun] : [OPTIONS]) {
    const config = join(served.folder, 'tsconfig.json')
    await Bun.write(config, JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
    await runTool([process.execPath, 'node_modules/typescript/bin/tsc', '-p', config])
  }
})
