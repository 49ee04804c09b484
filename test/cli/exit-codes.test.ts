import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliFolder } from '../support/processes/cli-process.ts'
import { testFolder } from '../support/test-folder.ts'

const folder = testFolder()

/** A certificate of its own authority; `name` is an alternative name in it, such as IP:127.0.0.1. */
function makeCertificate(name: string) {
  const path = join(folder, name.replace(/\W/g, '-'))
  const { exitCode, stderr } = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=iostlens-test'],
    ...['-addext', `subjectAltName=${name}`, '-keyout', `${path}.key`, '-out', `${path}.pem`],
  ])
  if (exitCode !== 0) throw new Error(`openssl: ${stderr}`)
  return { path: `${path}.pem`, cert: readFileSync(`${path}.pem`, 'utf8'), key: readFileSync(`${path}.key`, 'utf8') }
}
const own = makeCertificate('IP:127.0.0.1')
const foreign = makeCertificate('DNS:elsewhere.example')

/** Servers that no client reaches: each attempt ends in the handshake. */
const listen = (tls?: { readonly cert: string; readonly key: string }) =>
  Bun.serve({ port: 0, hostname: '127.0.0.1', ...(tls === undefined ? {} : { tls }), fetch: () => new Response('') })
const servers = { own: listen(own), foreign: listen(foreign), plain: listen() }
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop(true)
})
const at = (server: keyof typeof servers): readonly string[] => [
  '--store',
  `https://127.0.0.1:${servers[server].port}/iostlens`,
]
const TLS_HELP = /cannot be reached by TLS: .+\n {2}Set --store-ca to the PEM file/

const CASES: readonly (readonly [name: string, args: readonly string[], code: number, says: RegExp])[] = [
  ['a certificate of an unknown authority', at('own'), 2, TLS_HELP],
  ['a certificate of another authority', [...at('own'), '--store-ca', foreign.path], 2, TLS_HELP],
  ['a certificate of another host', [...at('foreign'), '--store-ca', foreign.path], 2, TLS_HELP],
  ['https to a server without TLS', at('plain'), 2, TLS_HELP],
  ['a folder as store', ['--store', `sqlite:${folder}`], 2, /is not a file\.\n {2}Set --store to a file\./],
  ['a store below a file', ['--store', `sqlite:${own.path}/x.sqlite`], 2, /ENOTDIR|EEXIST/],
  ['a store that is away', ['--store', 'http://127.0.0.1:1/iostlens'], 75, /cannot be reached/],
  ['an unknown host of a store', ['--store', 'http://nosuch.invalid:9200/iostlens'], 75, /cannot be reached/],
]

test.each(CASES)('exit code: %s', async (_name, args, code, says) => {
  await using cli = await cliFolder()
  for (const command of [
    ['keys', 'list'],
    ['load', '--once', '--node', 'http://127.0.0.1:1', '--wait', '100ms'],
  ]) {
    const ended = await cli.run([...command, ...args])
    expect([command, ended.code, ended.err]).toEqual([command, code, expect.stringMatching(says)])
  }
})

test('exit code: a node whose TLS is wrong', async () => {
  await using cli = await cliFolder()
  const refused = expect.stringMatching(/no connection by TLS \([A-Z_]+\)\.\n {2}Set NODE_EXTRA_CA_CERTS/)
  const run = async (server: keyof typeof servers, ...command: readonly string[]): Promise<void> => {
    const { code, err } = await cli.run([...command, '--node', `https://127.0.0.1:${servers[server].port}`])
    expect([server, command, code, err]).toEqual([server, command, 2, refused])
  }
  // All at once, since each waits longer than it works.
  await Promise.all(
    (Object.keys(servers) as (keyof typeof servers)[]).flatMap(server => [
      run(server, 'load', '--once', '--store', `sqlite:${server}.sqlite`),
      run(server, 'archive', 'write', server, '--prove', 'linked'),
    ]),
  )
})

test('exit code: a node whose authority NODE_EXTRA_CA_CERTS names is asked', async () => {
  await using cli = await cliFolder()
  const node = `https://127.0.0.1:${servers.own.port}`
  const { err } = await cli.run(['archive', 'write', 'x', '--node', node], { NODE_EXTRA_CA_CERTS: own.path })
  expect(err).toContain(`${node}: getChainInfo`)
})

test('exit code: a file that the operator named and the system refuses is no bug of the program', async () => {
  await using cli = await cliFolder()
  mkdirSync(join(cli.path, 'folder.sqlite'))
  for (const args of [
    ['restore', 'folder.sqlite', '--node', 'http://127.0.0.1:1'],
    ['archive', 'check', own.path],
    ['archive', 'write', own.path, '--node', 'archive:/nowhere'],
    ['status', '--labels', 'folder.sqlite'],
    ['serve', '--labels', 'folder.sqlite', '--listen', '127.0.0.1:0'],
    ['keys', 'list', '--store-password-file', 'folder.sqlite'],
  ]) {
    const { code, err } = await cli.run(args)
    expect([args, code, err]).toEqual([args, 2, expect.not.stringContaining('bug')])
  }
})
