import { expect, test } from 'bun:test'
import { cliFolder } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'

test.each(['127.0.0.1', '0.0.0.0', '[::1]', 'localhost'])(
  'health asks the service at %s itself, also where the environment names a proxy that is away',
  async host => {
    await using folder = await cliFolder()
    const proxy = `http://127.0.0.1:${await freePort()}`
    const named = Object.fromEntries(
      ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'].map(name => [name, proxy]),
    )
    const server = Bun.serve({ port: 0, hostname: host.replace(/[[\]]/g, ''), fetch: () => new Response('alive') })
    const health = (more: Readonly<Record<string, string>>) =>
      folder.run(['health', '--listen', `${host}:${server.port}`], { ...named, ...more })
    for (const more of [{}, { NO_PROXY: '' }, { NO_PROXY: 'elsewhere.example' }, { no_proxy: 'elsewhere.example' }])
      expect([more, await health(more)]).toEqual([more, { code: 0, out: 'alive\n', err: '' }])
    await server.stop(true)
  },
)
