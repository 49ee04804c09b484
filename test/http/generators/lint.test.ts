import { expect, test } from 'bun:test'
import { runTool } from '../../support/processes/run-tool.ts'
import { CHOICES, serveForGenerators } from './served.ts'

/** Disables the linter's requests to the network. */
const QUIET = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }

test('redocly lint: the document has no error with any options', async () => {
  await using served = await serveForGenerators()
  const documents: string[] = []
  for (const chosen of [...CHOICES, { export: 'ndjson' }, { export: 'csv' }] as const)
    documents.push(await served.document(chosen))
  const cli = [process.execPath, 'node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json']
  // The exit code is not 0 when there is an error.
  const report = await runTool([...cli, '--extends=recommended', ...documents], { environment: QUIET })
  expect(report.match(/"errors": *0\b/g)?.length).toBe(documents.length)
})
