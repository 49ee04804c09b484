import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { sum } from '#chain/amount.ts'
import { pythonTools } from '#test/support/processes/run-tool.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { servedBehind } from '../support/browser/served.ts'
import { documented, fences } from '../support/documented.ts'
import { runTool } from '../support/processes/run-tool.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const service = serviceOn(await loadedStore())
const served = servedBehind('/', service)
const origin = served.url.replace(/\/$/, '')
afterAll(() => served[Symbol.asyncDispose]())

const ENTITIES = { '&#39;': "'", '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&' } as const

/** The code blocks in a language as a reader of the reference sees them, with the address and the key of the service. */
async function blocksOf(page: string, language: string): Promise<readonly string[]> {
  const text = await (await service.ask(`/docs/${page}`)).text()
  const pattern = new RegExp(`<pre class="sample(?: guide)?"[^>]*aria-label="${language}">([^<]*)</pre>`, 'g')
  return [...text.matchAll(pattern)].map(([, block = '']) =>
    Object.entries(ENTITIES)
      .reduce((read, [entity, character]) => read.replaceAll(entity, character), block)
      .replaceAll('SERVICE_URL', origin)
      .replaceAll('YOUR_API_KEY', service.key),
  )
}

/**
 * The output of a curl command. Without curl on the machine: of a request with the command's arguments, split
 * by the shell.
 */
async function runCurl(command: string): Promise<string> {
  if (Bun.which('curl') !== null) return runTool(['sh', '-c', `${command} -s`])
  const words = (await runTool(['sh', '-c', `curl() { printf '%s\\n' "$@"; }; ${command}`])).split('\n')
  const [flag, header = '', url = '', ...rest] = words
  expect([flag, rest]).toEqual(['-H', ['']])
  // curl would expand these characters.
  expect(url).not.toMatch(/[[\]{}]/)
  const [name = '', value = ''] = header.split(': ')
  return (await fetch(url, { headers: { [name]: value } })).text()
}

/** The service's answer to the URL of a curl command. */
async function answerTo(command: string): Promise<string> {
  const [, key = '', url = ''] = /^curl -H 'X-API-Key: ([^']+)' '([^']+)'$/.exec(command) ?? []
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  expect([command, response.status]).toEqual([command, 200])
  return response.text()
}

test('reference: the commands of all guides and actions return the service’s answers, in both languages', async () => {
  const [commands, chinese] = [await blocksOf('en', 'curl'), await blocksOf('zh', 'curl')]
  expect(chinese).toEqual(commands)
  expect(commands.length).toBe(actions.length + 10)
  for (const command of commands) expect([command, await runCurl(command)]).toEqual([command, await answerTo(command)])
})

/** The programs have different file names. */
const folder = testFolder()

test('reference: the programs in TypeScript and Python print the data of the answer', async () => {
  // The commands of actions follow those of guides.
  const commands = (await blocksOf('en', 'curl')).slice(-actions.length)
  const [typescript, python] = [await blocksOf('en', 'TypeScript'), await blocksOf('en', 'Python')]
  expect([typescript.length, python.length]).toEqual([actions.length, actions.length])
  const interpreter = await pythonTools()
  const data: unknown[] = []
  for (const [place, command] of commands.entries()) {
    data.push(JSON.parse(await answerTo(command)).data)
    for (const [name, program, from, to] of [
      [`${place}.ts`, typescript[place], 'console.log(answer.data)', 'console.log(JSON.stringify(answer.data))'],
      [`${place}.py`, python[place], 'print(answer["data"])', 'print(json.dumps(answer["data"]))'],
    ] as const)
      await Bun.write(join(folder, name), program?.replace(from, to) ?? '')
  }
  // One process runs all programs of a language, since each takes longer to start than to run.
  for (const runner of [
    [process.execPath, '-e', `for (let at = 0; at < ${data.length}; at++) await import('${folder}/' + at + '.ts')`],
    [interpreter, '-c', `import runpy\nfor at in range(${data.length}): runpy.run_path(f'${folder}/{at}.py')`],
  ]) {
    const printed = (await runTool(runner)).trimEnd().split('\n')
    expect(printed.length).toBe(data.length)
    for (const [place, command] of commands.entries())
      expect([command, JSON.parse(printed[place] ?? '')]).toEqual([command, data[place]])
  }
})

test('docs/api.md: the client program runs and prints the documented rows and holders', async () => {
  const [program] = fences(documented('docs/api.md', '## A client'))
  await Bun.write(join(folder, 'client.ts'), await (await service.ask('/client.ts')).text())
  const text = (program?.text ?? '').replace('http://127.0.0.1:8080', origin).replace('iostlens-test', service.key)
  await Bun.write(join(folder, 'program.ts'), text)
  const lines = (await runTool([process.execPath, join(folder, 'program.ts')])).trimEnd().split('\n')
  const { total, holders } = JSON.parse(await answered('/api/token/get-token-holder?token=iost&size=1')).data
  expect(lines.slice(0, 261)).toEqual(Array.from({ length: 261 }, (_, at) => String(18_001 + at)))
  expect([lines.length - 261, lines[261]]).toEqual([total, expect.stringContaining(`${holders[0].account} `)])
})

const callsIn = (path: string): readonly string[] =>
  [...documented(path).matchAll(/^ +(\/api\/\?\S+)$/gm)].map(([, call = '']) => call)

async function answered(call: string): Promise<string> {
  const response = await service.get(call)
  expect([call, response.status]).toEqual([call, 200])
  if (!call.includes('format=sse')) return response.text()
  // A feed does not end.
  await response.body?.cancel()
  return ''
}

test.each([
  ['docs/paying-voters.md', 4],
  ['docs/wallets-first-screen.md', 8],
  ['docs/years-statement.md', 12],
])('%s: every call is answered, and both languages have the same calls', async (path, count) => {
  const calls = callsIn(path)
  expect(calls.length).toBe(count)
  expect(calls.slice(count / 2)).toEqual(calls.slice(0, count / 2))
  for (const call of calls.slice(0, count / 2)) await answered(call)
})

test('docs/years-statement.md: the opening balance plus all changes is the closing balance', async () => {
  const [opening = '', , file = '', , , first = ''] = callsIn('docs/years-statement.md')
  const totalOf = ({ available, frozen }: { available: string; frozen: string }) => sum(available, frozen)
  const before = JSON.parse(await answered(opening)).data.iost
  const { balance, frozen_balance } = JSON.parse(await answered(first)).data
  expect(totalOf(before)).toBe(sum(balance, frozen_balance.total))
  const after = JSON.parse(await answered(opening.replace(/&at_time=[^&]+/, ''))).data.iost
  const [, ...lines] = readWholeCsv(await answered(file))
  const changes = lines.reduce((all, cells) => sum(all, cells[2] ?? ''), '0')
  expect(sum(totalOf(before), changes)).toBe(totalOf(after))
  expect(lines.at(-1)?.[3]).toBe(totalOf(after))
  expect(lines.length).toBeGreaterThan(100)
})
