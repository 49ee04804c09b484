import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { failureOf } from '#test/support/refusal.ts'
import { spawnIn } from '../../support/processes/cli-process.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { systemProgram } from '../../support/processes/run-tool.ts'
import { differences, dumpElastic } from '../../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic } from '../../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../../support/stores/loading.ts'
import { testFolder } from '../../support/test-folder.ts'
import { until } from '../../support/wait.ts'

const HEIGHT = 200

let nginx: string
const folder = testFolder()

/** A real nginx in front of Elasticsearch that accepts bodies up to a limit. */
async function limitedTo(url: string, limit: string) {
  const port = await freePort()
  const own = join(folder, limit)
  await mkdir(own)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${own}/${name};`)
  await Bun.write(
    join(own, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${own}/pid; error_log stderr;\n${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}\nhttp { ${paths.join(' ')} log_format brief '$status'; access_log ${own}/log brief;
    server { listen 127.0.0.1:${port}; client_max_body_size ${limit};
    location / { proxy_pass ${url}; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`,
  )
  const running = spawnIn(own, [nginx, '-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')])
  const at = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(at).catch(() => undefined)) !== undefined)
  return {
    url: at,
    refused: async () => (await readFile(join(own, 'log'), 'utf8')).split('\n').filter(line => line === '413').length,
    [Symbol.asyncDispose]: async () => {
      running.kill('SIGTERM')
      await running.ended
    },
  }
}

describe.skipIf(elasticsearchUrl() === undefined)('a proxy in front of Elasticsearch that limits bodies', () => {
  beforeAll(async () => {
    nginx = await systemProgram('nginx', 'nginx-light')
  })
  const load = (store: Store) => loadFrom(ARCHIVED, store, { to: HEIGHT, prove: 'linked' })

  test('bulks are split until they pass, and the same is stored', async () => {
    await using target = openTestElastic()
    await using proxy = await limitedTo(target.url, '90k')
    expect(await load(target.reopen({ url: proxy.url }))).toBe(HEIGHT)
    expect(await proxy.refused()).toBeGreaterThan(0)
    await using plain = openTestElastic()
    await load(plain.store)
    const [stored, expected] = [
      await dumpElastic(target.url, target.prefix),
      await dumpElastic(plain.url, plain.prefix),
    ]
    expect(differences(stored, expected)).toEqual([])
  })

  test('a limit below a single document is named, with what to change', async () => {
    await using target = openTestElastic()
    await using proxy = await limitedTo(target.url, '4k')
    await target.store.create()
    expect(await failureOf(load(target.reopen({ url: proxy.url })))).toMatchObject({
      message: expect.stringContaining('is too large'),
      help: expect.stringContaining('client_max_body_size'),
      retryable: false,
    })
  })
})
