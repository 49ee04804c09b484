import { expect, test } from 'bun:test'
import { basename, dirname, join } from 'node:path'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { operationId } from '#http/openapi/action-operation.ts'
import { NOTHING, schemaName } from '#http/openapi/answer-schema.ts'
import type { Form } from '#http/openapi/responses.ts'
import { pythonTools } from '#test/support/processes/run-tool.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { argumentsOf, CHOICES, type Served, serveForGenerators } from './served.ts'

/** The result of a call, as `call_actions.py` prints it. */
type Answered = {
  readonly function: string
  readonly status: number
  readonly type: string
  readonly same: boolean
}

/** `getAccountTx` → `get_account_tx`, as the generator names functions. */
const functionOf = (action: ApiAction): string =>
  operationId(action).replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** A call for an account that no chain has. */
const UNKNOWN = { tag: 'account', function: 'get_account_detail', parameters: { account: 'nobody_here' } }

/** Generates a client from the document for these options, and calls every action with it. */
async function callAll(python: string, served: Served, chosen: Partial<Form>): Promise<readonly Answered[]> {
  const document = await served.document(chosen)
  const name = basename(document, '.json').replace('-', '_')
  const generate = [python, '-m', 'openapi_python_client', 'generate', '--meta', 'none', '--fail-on-warning']
  // The generator formats its output with another program in PATH.
  const environment = { PATH: `${dirname(python)}:${process.env['PATH']}` }
  await runTool([...generate, '--path', document, '--output-path', join(served.folder, name)], {
    environment,
  })
  const calls = actions.map(action => ({
    tag: action.module,
    function: functionOf(action),
    parameters: argumentsOf(action, chosen),
  }))
  const unknown = { ...UNKNOWN, parameters: { ...UNKNOWN.parameters, ...chosen } }
  const { url, folder, service } = served
  const task = { folder, package: name, url, key: service.key, calls: [...calls, unknown] }
  const program = join(import.meta.dir, 'call_actions.py')
  return JSON.parse(await runTool([python, program], { input: JSON.stringify(task) }))
}

test('openapi-python-client: every action is called, and its class contains the whole answer', async () => {
  const python = await pythonTools()
  await using served = await serveForGenerators()
  for (const chosen of CHOICES) {
    const answered = await callAll(python, served, chosen)
    const typeOf = (action: ApiAction) =>
      chosen.format === 'bare' ? schemaName(action) : `${schemaName(action)}Response200`
    expect(answered).toEqual([
      ...actions.map(action => ({
        function: functionOf(action),
        status: 200,
        type: typeOf(action),
        same: true,
      })),
      chosen.compat === 'iostabc'
        ? { function: UNKNOWN.function, status: 200, type: NOTHING.name, same: true }
        : { function: UNKNOWN.function, status: 404, type: 'Error', same: true },
    ])
  }
}, 900_000)
