import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'
import { systemProgram } from '../support/processes/run-tool.ts'
import { readWholeCsv } from '../support/read-csv.ts'
import { until } from '../support/wait.ts'
import { loadedFolder, stop } from './folder.ts'

/** Exports that a stop of the service breaks off, read by curl directly and through a real nginx. */

const KEY = 'sharedtestkey'

let folder: CliFolder
let nginx: string
let curl: string
beforeAll(async () => {
  // The lists have some thousands of rows, more than the test key's plan allows at once.
  folder = await loadedFolder()
  nginx = await systemProgram('nginx', 'nginx-light')
  curl = await systemProgram('curl', 'curl')
})
afterAll(() => folder[Symbol.asyncDispose]())

async function serve() {
  const options = ['--test-key', KEY, '--drain', '50ms', '--explorer']
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0', ...options])
  const [url = ''] = /http:\/\/[\d.]+:\d+/.exec(await serving.firstLine) ?? []
  const open = async (): Promise<number> => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const counts = [...metrics.matchAll(/^iostlens_(?:exports|downloads)_open (\d+)$/gm)]
    return counts.reduce((sum, [, count]) => sum + Number(count), 0)
  }
  return { serving, url, open }
}

/** nginx as it comes, which speaks HTTP/1.0, or with what the examples add. */
async function startNginx(url: string, settings: string) {
  const port = await freePort()
  const own = join(folder.path, `nginx-${port}`)
  await mkdir(own)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${own}/${name};`,
  )
  await Bun.write(
    join(own, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${own}/pid; error_log stderr;\n${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}\nhttp { ${temporary.join(' ')} access_log off;
    server { listen 127.0.0.1:${port}; location / { proxy_pass ${url}; ${settings} } } }`,
  )
  const running = spawnIn(own, [nginx, '-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')])
  const at = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${at}/health`).catch(() => undefined))?.ok === true)
  return { url: at, [Symbol.asyncDispose]: async () => void (await stop(running)) }
}

const HISTORY = 'account/get-balance-history?account=busyhub&token=iost'
const FILES = [
  `api/token/get-token-tx?token=iost&format=ndjson&apikey=${KEY}`,
  `api/token/get-token-tx?token=iost&format=csv&apikey=${KEY}`,
  `api/${HISTORY}&format=csv&csv=koinly&apikey=${KEY}`,
  // A file of the explorer's pages, of nearly as many rows as it may have.
  'account/busyhub/records.csv?end_block=3000',
]

/** Whether a file says that it is complete. */
function isWhole(text: string): boolean {
  if (/"complete":true[^\n]*\n$/.test(text)) return true
  try {
    return readWholeCsv(text).length > 1
  } catch {
    return false
  }
}

/** On its way a file is the same whatever wrote it, so the other routes have one of them. */
const ONE = FILES.slice(1, 2)
const ROUTES = [
  ['directly', undefined, [], FILES],
  ['directly over HTTP/1.0', undefined, ['--http1.0'], ONE],
  ['through nginx as it comes', '', [], ONE],
  ['through nginx with HTTP/1.1', 'proxy_http_version 1.1; proxy_set_header Connection "";', [], ONE],
] as const

describe.each(['SIGTERM', 'SIGKILL'] as const)('%s in the middle of an export', signal => {
  for (const [route, settings, options, files] of ROUTES)
    test.each(signal === 'SIGTERM' ? [...files] : ONE)(`${route}, it does not look whole: %s`, async path => {
      const { serving, url, open } = await serve()
      await using proxy = settings === undefined ? undefined : await startNginx(url, settings)
      const asked = `${proxy?.url ?? url}/${path}`
      const client = spawnIn(folder.path, [curl, '-sSN', '--fail', '-m', '120', ...options, asked])
      await until(async () => (await open()) === 1)
      // nginx as it comes has an answer only when it is complete.
      if (settings !== '') await client.says('\n')
      serving.kill(signal)
      const { code, out } = await client.ended
      await serving.ended
      expect(isWhole(out)).toBe(false)
      // After a kill, HTTP/1.0 without a length leaves no trace of it on the connection.
      if (signal === 'SIGTERM' || options.length === 0) expect(code).not.toBe(0)
    })
})

test('an export through nginx as it comes is whole, and its length is known', async () => {
  const { serving, url } = await serve()
  await using proxy = await startNginx(url, '')
  for (const path of [`api/${HISTORY}&apikey=${KEY}&end_seq=3000&format=csv&csv=ledger`, 'account/admin/records.csv']) {
    const [head, body] = [join(folder.path, 'head'), join(folder.path, 'body')]
    const client = spawnIn(folder.path, [curl, '-sS', '--fail', '-D', head, '-o', body, `${proxy.url}/${path}`])
    const { code } = await client.ended
    expect([path, code, isWhole(await Bun.file(body).text())]).toEqual([path, 0, true])
    expect(await Bun.file(head).text()).toContain(`Content-Length: ${Bun.file(body).size}\r\n`)
  }
  await stop(serving)
})
