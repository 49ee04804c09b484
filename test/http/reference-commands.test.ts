import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { pythonTools } from '#test/support/processes/python-tools.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { servedBehind } from '../support/browser/served.ts'
import { documented, fences } from '../support/documented.ts'
import { runTool } from '../support/processes/run-tool.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** The code blocks as a reader sees them, with the address and the key of the service inserted. */
const blocksOf = (page: string, pattern: RegExp, { url, key }: { url: string; key: string }) =>
  [...page.matchAll(pattern)].map(([, text = '']) =>
    text
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
      .replaceAll('SERVICE_URL', url.replace(/\/$/, ''))
      .replaceAll('YOUR_API_KEY', key),
  )

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
  const service = serviceOn(await loadedStore())
  await using served = servedBehind('/', service)
  const at = { url: served.url, key: service.key }
  const pages = await Promise.all(['en', 'zh'].map(async lang => (await service.ask(`/docs/${lang}`)).text()))
  const [commands = [], chinese] = pages.map(page =>
    blocksOf(page, /<pre class="sample(?: guide)?"[^>]*aria-label="curl">([^<]*)<\/pre>/g, at),
  )
  expect(chinese).toEqual(commands)
  expect(commands.length).toBe(actions.length + 10)
  for (const command of commands) expect([command, await runCurl(command)]).toEqual([command, await answerTo(command)])
})

/** The programs have different file names. */
const folder = testFolder()

test('reference: the programs in TypeScript and Python print the data of the answer', async () => {
  const service = serviceOn(await loadedStore())
  await using served = servedBehind('/', service)
  const page = await (await service.ask('/docs/en')).text()
  const at = { url: served.url, key: service.key }
  const of = (language: string) =>
    blocksOf(page, new RegExp(`<pre class="sample"[^>]*aria-label="${language}">([^<]*)</pre>`, 'g'), at)
  const [commands, typescript, python] = [of('curl'), of('TypeScript'), of('Python')]
  expect([typescript.length, python.length]).toEqual([actions.length, actions.length])
  const interpreter = await pythonTools()
  const data: unknown[] = []
  for (const [place, command] of commands.entries()) {
    data.push(JSON.parse(await answerTo(command)).data)
    await Bun.write(
      join(folder, `${place}.ts`),
      (typescript[place] ?? '').replace('console.log(answer.data)', 'console.log(JSON.stringify(answer.data))'),
    )
    await Bun.write(
      join(folder, `${place}.py`),
      (python[place] ?? '').replace('print(answer["data"])', 'print(json.dumps(answer["data"]))'),
    )
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
  const service = serviceOn(await loadedStore())
  await using served = servedBehind('/', service)
  const [program] = fences(documented('docs/api.md', '## A client'))
  await Bun.write(join(folder, 'client.ts'), await (await service.ask('/client.ts')).text())
  const text = (program?.text ?? '')
    .replace('http://127.0.0.1:8080', served.url.replace(/\/$/, ''))
    .replace('iostlens-test', service.key)
  await Bun.write(join(folder, 'program.ts'), text)
  const lines = (await runTool([process.execPath, join(folder, 'program.ts')])).trimEnd().split('\n')
  const answer = await service.ask('/api/token/get-token-holder?token=iost&size=1', {
    headers: { 'x-api-key': service.key },
  })
  const { data } = (await answer.json()) as {
    readonly data: { readonly total: number; readonly holders: readonly { readonly account: string }[] }
  }
  const sequence = Array.from({ length: 261 }, (_, at) => String(18_001 + at))
  expect(lines.slice(0, 261)).toEqual(sequence)
  expect(lines.length - 261).toBe(data.total)
  expect(lines[261]).toStartWith(`${data.holders[0]?.account} `)
})
