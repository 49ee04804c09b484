import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordId } from '#indices/list.ts'
import type { Replay } from '#test/replay/serve.ts'
import { type CliFolder, cliFolder, type Outcome } from '../../support/processes/cli-process.ts'
import { ROOT } from '../../support/root.ts'
import { freePorts, type OwnServer, ownServers } from '../../support/stores/elastic-process.ts'
import { replayed } from '../../support/stores/loading.ts'

const HEIGHT = 60
/** Blocks loaded afterwards, over the ends of several partitions. */
const MORE = 100
/** Documents per partition: some dozens of blocks. */
const PARTITION = 30
const USERS = ['setup', 'migration', 'loader', 'service', 'keys'] as const
type User = (typeof USERS)[number]
type Password = Readonly<Record<User, string>>

const servers = ownServers()
const passwords = Object.fromEntries(USERS.map(user => [user, crypto.randomUUID()])) as Password
const WRONG = crypto.randomUUID()

let server: OwnServer
let node: Replay
let folder: CliFolder
/** All output, to be searched for passwords. */
const printed: string[] = []

beforeAll(async () => {
  if (servers === undefined) return
  folder = await cliFolder()
  const tls = certificate(folder.path)
  server = servers.make('secured', await freePorts(), {
    scheme: 'https',
    settings: [
      'discovery.type: single-node',
      'xpack.security.enabled: true',
      'xpack.security.http.ssl.enabled: true',
      'xpack.security.http.ssl.key: http.key',
      'xpack.security.http.ssl.certificate: http.pem',
    ],
    files: {
      'http.key': tls.key,
      'http.pem': tls.certificate,
      'roles.yml': readFileSync(join(ROOT, 'indices/roles.yml'), 'utf8'),
      users: USERS.map(user => `${user}:${hashed(passwords[user])}\n`).join(''),
      users_roles: USERS.map(user => `iostlens_${user}:${user}\n`).join(''),
    },
  })
  await server.start()
  node = await replayed(MORE)
})
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]()
  servers?.[Symbol.dispose]()
  await node?.stop()
})

/** The hash as the server's own tool writes it. `2a` and `2b` are names of the same algorithm. */
const hashed = (password: string): string =>
  Bun.password.hashSync(password, { algorithm: 'bcrypt', cost: 4 }).replace('$2b$', '$2a$')

/** A self-signed certificate for 127.0.0.1. */
function certificate(at: string) {
  const [key, pem] = [join(at, 'http.key'), join(at, 'ca.pem')]
  const fixed = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=iostlens-test -addext subjectAltName=IP:127.0.0.1'
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...fixed.split(' '), '-keyout', key, '-out', pem])
  if (exitCode !== 0) throw new Error(`openssl: ${stderr}`)
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(pem, 'utf8') }
}

const environmentOf = (user: User, password = passwords[user]) => ({
  IOSTLENS_STORE: `${server.url}/iostlens`,
  IOSTLENS_STORE_USER: user,
  IOSTLENS_STORE_PASSWORD: password,
  IOSTLENS_STORE_CA: join(folder.path, 'ca.pem'),
  IOSTLENS_LOG_LEVEL: 'debug',
})

async function as(user: User, args: readonly string[], password?: string): Promise<Outcome> {
  const outcome = await folder.run(args, environmentOf(user, password))
  printed.push(outcome.out, outcome.err)
  return outcome
}

/** A request of a user without the program. */
async function requestAs(user: User, [method, path]: readonly [string, string], body?: object): Promise<void> {
  const answer = await fetch(`${server.url}/${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${user}:${passwords[user]}`).toString('base64')}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    tls: { ca: readFileSync(join(folder.path, 'ca.pem'), 'utf8') },
  })
  expect(answer.status).toBe(200)
}

const load = () => ['load', '--node', node.url, '--once']

describe.skipIf(servers === undefined)('a secured Elasticsearch', () => {
  test('a loader that may not create indices names the required role', async () => {
    const { code, err } = await as('loader', load())
    expect([code, err]).toEqual([2, expect.stringMatching(/^iostlens: user 'loader' may not create iostlens-\S+: /)])
    expect(err).toContain('Grant the role the privilege named in the message.')
  })

  test('each part works with the smallest role', async () => {
    expect((await as('setup', ['indices', 'create'])).code).toBe(0)
    const first = [...load(), '--to', String(HEIGHT)]
    expect(await as('loader', first)).toMatchObject({ code: 0, out: `Loaded up to block ${HEIGHT}.\n` })
    expect((await as('service', ['status', '--all'])).code).toBe(0)
    const added = await as('keys', ['keys', 'add', 'wallet'])
    expect(added.code).toBe(0)
    expect((await as('keys', ['keys', 'list'])).out).toContain(' wallet\n')
    // The load crosses ends of partitions, where indices and aliases are created, merged and made read-only.
    const more = [...load(), '--to', String(MORE), '--partition-documents', String(PARTITION)]
    expect(await as('loader', more)).toMatchObject({ code: 0, out: `Loaded up to block ${MORE}.\n` })
    await requestAs('loader', ['DELETE', `iostlens-records-000000/_doc/${recordId(0, 0, 3)}?refresh=true`])
    const merged = await as('loader', ['indices', 'merge'])
    const count = Number(/: (\d+) indices merged, 0 were merged before\.\n$/.exec(merged.out)?.[1])
    expect([merged.code, merged.err, count >= 6]).toEqual([0, expect.anything(), true])
    expect((await as('loader', ['repair'])).code).toBe(0)
    expect(await as('service', ['verify'])).toMatchObject({ code: 0, out: expect.stringMatching(/: whole\n$/) })
    const service = folder.start(['serve', '--listen', '127.0.0.1:0'], environmentOf('service'))
    const url = await service.firstLine
    const headers = { 'x-api-key': added.out.trimEnd().split('\n').at(-1) ?? '' }
    const answer = await fetch(`${url}/api/?module=base&action=get-overview`, { headers })
    expect([answer.status, answer.headers.get('x-block-height')]).toEqual([200, String(MORE)])
    service.kill('SIGTERM')
    const { code, out, err } = await service.ended
    printed.push(out, err)
    expect(code).toBe(0)
    const id = /^Key (\S+) of/m.exec(added.out)?.[1] ?? ''
    expect((await as('keys', ['keys', 'revoke', id])).code).toBe(0)
  })

  test('a user with the role of another part learns which privileges are missing', async () => {
    for (const [user, args, wanted] of [
      ['service', load(), 'write iostlens-meta'],
      ['setup', ['keys', 'list'], 'search iostlens-keys'],
    ] as const) {
      const { code, out, err } = await as(user, args)
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(`iostlens: user '${user}' may not ${wanted}`)])
    }
  })

  test('a migration works with its own role, and a loader’s role is not enough', async () => {
    const older = { _meta: { schema: 1, fingerprint: 'of an older one' } }
    await requestAs('setup', ['PUT', 'iostlens-state-0/_mapping'], older)
    const migrate = ['indices', 'migrate', '--delete-old', '--lease', '1s']
    const refused = await as('loader', migrate)
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/^iostlens: user 'loader' may not /)])
    const { code, out, err } = await as('migration', [...migrate, '--log-level', 'warn'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('iostlens-state-0: deleted\n')
    expect((await as('loader', load())).code).toBe(0)
  })

  test('a wrong password is reported at once with user and server, and is not tried again', async () => {
    for (const args of [load(), ['serve', '--listen', '127.0.0.1:0']])
      expect(await as('loader', args, WRONG)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(
          `iostlens: Elasticsearch at ${server.url} refused user 'loader'.\n  Check the user and password, or the API key, in the settings ('iostlens config').\n`,
        ),
      })
  })

  test('a certificate of an unknown authority is refused', async () => {
    const { IOSTLENS_STORE_CA: _, ...environment } = environmentOf('service')
    const { code, err } = await folder.run(['status'], environment)
    printed.push(err)
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot be reached by TLS: .*certificate/i)])
  })

  test('no password is ever printed', async () => {
    const withPassword = server.url.replace('://', `://loader:${WRONG}@`)
    const inUrl = await folder.run(['config'], { IOSTLENS_STORE: `${withPassword}/iostlens` })
    const unreachable = await folder.run(['status'], {
      IOSTLENS_STORE: `http://loader:${WRONG}@127.0.0.1:1,127.0.0.1:1/x`,
    })
    const onLine = await folder.run(['status', '--store', `${withPassword}/iostlens`])
    expect([inUrl.code, unreachable.code, onLine.code]).toEqual([0, 75, 2])
    for (const { out, err } of [inUrl, unreachable, onLine]) printed.push(out, err)
    const logs = join(server.folder, 'logs')
    const logged = readdirSync(logs).map(name => readFileSync(join(logs, name), 'utf8'))
    const all = [...printed, ...logged].join('\n')
    const secrets = [...Object.values(passwords), WRONG].flatMap(secret => [
      secret,
      ...USERS.map(user => Buffer.from(`${user}:${secret}`).toString('base64')),
    ])
    expect(secrets.filter(secret => all.includes(secret))).toEqual([])
    expect(all).toContain('***')
  })
})
