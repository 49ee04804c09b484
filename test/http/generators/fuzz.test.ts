import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { pythonTools } from '#test/support/processes/run-tool.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { ROOT } from '../../support/root.ts'
import { CHOICES, serveForGenerators } from './served.ts'

/** The document as a linter and a maker of requests read it. */

test('redocly lint: the document has no error with any options', async () => {
  await using served = await serveForGenerators()
  const documents: string[] = []
  for (const chosen of [...CHOICES, { export: 'ndjson' }, { export: 'csv' }] as const)
    documents.push(await served.document(chosen))
  const cli = [process.execPath, 'node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json']
  // Without requests to the network. The exit code is not 0 when there is an error.
  const environment = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
  const report = await runTool([...cli, '--extends=recommended', ...documents], { environment })
  expect(report.match(/"errors": *0\b/g)?.length).toBe(documents.length)
})

/** One route per action, and the route that takes any action. */
const OPERATIONS = actions.length + 1
/** In a long run. A fifth of the cases are derived from the document. */
const CASES = 5_000
const RANDOM_PART = 0.8

/**
 * The check that valid values are accepted is off, because the tool knows values only one by one, without
 * their meaning: not every base58 text of a possible length is 32 bytes (`hash`, `tx_hash`, `tx_hashes`,
 * `contract`, `account`, `accounts`); at least one of `number` and `hash` is required, and both must belong
 * to one block; `start_…` must not be after `end_…`, and a range has at most a year of days. The pattern of
 * every other parameter is that of its reader: `openapi-patterns.test.ts` checks it with generated values.
 */
const NOT_CHECKED = 'positive_data_acceptance'

/** Runs the tool on the typed routes of the served document for these options. Returns its report. */
async function fuzzed(
  chosen: Readonly<Record<string, string>>,
  { paths, phases, examples }: { readonly paths: string; readonly phases: string; readonly examples: number },
): Promise<{ readonly operations: number; readonly cases: number }> {
  const python = await pythonTools()
  await using served = await serveForGenerators()
  const document = await served.document(chosen)
  const command = [
    ...[python, '-m', 'schemathesis.cli', 'run', document, '--url', served.url, '--no-color'],
    ...['--include-path-regex', paths, '--header', `X-API-Key: ${served.service.key}`],
    ...['--checks', 'all', '--exclude-checks', NOT_CHECKED, '--phases', phases],
    ...['--seed', '1', '--max-examples', String(examples)],
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
  const figure = (pattern: RegExp): number => Number(pattern.exec(report)?.[1])
  return { operations: figure(/Selected: (\d+)/), cases: figure(/(\d+) generated/) }
}

// In every run `openapi-answers.test.ts` makes requests of all operations without this tool, which is slow.
test('schemathesis: requests of one operation made from the document get documented answers', async () => {
  const paths = '^/api/block/get-block-detail$'
  const { operations, cases } = await fuzzed({}, { paths, phases: 'examples,fuzzing', examples: 20 })
  expect([operations, cases >= 20]).toEqual([1, true])
}, 600_000)

if (SOAK)
  test.each([
    ['examples,coverage,fuzzing', {}, CASES, Math.ceil((CASES * RANDOM_PART) / OPERATIONS)],
    ['examples,fuzzing', { numbers: 'string' }, OPERATIONS * 10, 10],
  ])(
    'schemathesis: requests of each operation do, with %s and %p',
    async (phases, chosen, least, examples) => {
      const { operations, cases } = await fuzzed(chosen, { paths: '^/api(/|$)', phases, examples })
      expect([operations, cases >= least]).toEqual([OPERATIONS, true])
    },
    1_800_000,
  )
