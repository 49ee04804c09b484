import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { pythonTools } from '#test/support/processes/python-tools.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { serveForGenerators } from './served.ts'

const CASES = 5_000
/** The routes of the actions and the address that takes any of them. */
const OPERATIONS = actions.length + 1
/** Cases that are derived from the document are a fifth at least; the others are made at random. */
const RANDOM_PART = 0.8

/**
 * Whether valid values are taken is not checked here, because a tool knows values one by one, without what they name:
 * `hash`, `tx_hash`, `tx_hashes`, `contract`, `account`, `accounts`: not every base58 text of a possible length is 32
 * bytes; `number` and `hash`: at least one of them, and both only of one block; `start_…` and `end_…`: no start after its
 * end, and no more than a year of days. The pattern of every other parameter is that of its reader, which
 * `openapi-patterns.test.ts` checks with values made from it.
 */
const NOT_CHECKED = 'positive_data_acceptance'

/** Runs the tool over the typed routes of the document for these options, which are served; its report. */
const fuzzed = async (
  chosen: Readonly<Record<string, string>>,
  { phases, examples }: { readonly phases: string; readonly examples: number },
): Promise<string> => {
  const python = await pythonTools()
  await using served = await serveForGenerators()
  const document = await served.document(chosen)
  const command = [
    ...[python, '-m', 'schemathesis.cli', 'run', document, '--url', served.url, '--no-color'],
    ...['--include-path-regex', '^/api(/|$)', '--header', `X-API-Key: ${served.service.key}`],
    ...['--checks', 'all', '--exclude-checks', NOT_CHECKED, '--phases', phases],
    ...['--seed', '1', '--max-examples', String(examples)],
    // Two keys in one request are refused; the key of the header is the one that is given.
    ...['--generation-with-security-parameters', 'false', '--generation-database', 'none'],
    ...['--no-shrink', '--continue-on-failure', '--suppress-health-check', 'all', '--warnings', 'off'],
  ]
  // It keeps notes of a run where it is started.
  const hooks = join(import.meta.dir, 'untargeted.py')
  const environment = { SCHEMATHESIS_HOOKS: hooks, PYTHONDONTWRITEBYTECODE: '1' }
  const report = await runTool(command, { environment, folder: served.folder })
  expect(Number(/Selected: (\d+)/.exec(report)?.[1])).toBe(OPERATIONS)
  return report
}
const casesIn = (report: string): number => Number(/(\d+) generated/.exec(report)?.[1])

test('schemathesis: thousands of requests made from the document are answered as it says', async () => {
  const examples = Math.ceil((CASES * RANDOM_PART) / OPERATIONS)
  const report = await fuzzed({}, { phases: 'examples,coverage,fuzzing', examples })
  expect(casesIn(report)).toBeGreaterThanOrEqual(CASES)
}, 1_800_000)

test('schemathesis: so are some of each operation with numbers as strings', async () => {
  const report = await fuzzed({ numbers: 'string' }, { phases: 'examples,fuzzing', examples: 10 })
  expect(casesIn(report)).toBeGreaterThanOrEqual(OPERATIONS * 10)
}, 1_800_000)
