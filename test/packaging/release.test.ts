import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { runTool } from '#test/support/processes/run-tool.ts'
import { ROOT } from '#test/support/root.ts'
import { testFolder } from '#test/support/test-folder.ts'

const RELEASE = join(ROOT, 'dist/release')
const COMMIT = '0123456789ab'
/** Place of a program's machine in its ELF header, and its number for arm64. */
const [ELF_MACHINE, AARCH64] = [18, 183]

describe('scripts/release', () => {
  let program: string
  let bill: string

  beforeAll(async () => {
    const { version } = await Bun.file(join(ROOT, 'package.json')).json()
    program = `iostlens-${version}-linux-x64`
    bill = `iostlens-${version}.cdx.json`
    await runTool(['scripts/release', 'linux-x64'], { environment: { COMMIT } })
  })
  afterAll(() => rm(RELEASE, { recursive: true, force: true }))

  test('the program prints its version and commit', async () => {
    const { version } = await Bun.file(join(ROOT, 'package.json')).json()
    expect(await runTool([join(RELEASE, program), '--version'])).toBe(`iostlens ${version}+${COMMIT}\n`)
  })

  test('checksums cover every file and are right', async () => {
    const said = await runTool(['sha256sum', '--check', '--strict', 'SHA256SUMS'], { folder: RELEASE })
    expect(said.trim().split('\n').sort()).toEqual([`${program}: OK`, `${bill}: OK`].sort())
  })

  test('the bill of materials is CycloneDX, and lists the packages in the program', async () => {
    const text = await Bun.file(join(RELEASE, bill)).text()
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const { dependencies, engines } = await Bun.file(join(ROOT, 'package.json')).json()
    const purls: readonly string[] = JSON.parse(text).components.map(({ purl }: { purl: string }) => purl)
    for (const [name, version] of Object.entries({ ...dependencies, bun: engines.bun }))
      expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`)
    // No program contains the tools of the tests.
    expect(purls.filter(purl => /biome|typescript|redocly/.test(purl))).toEqual([])
  })

  test.skipIf(process.arch === 'arm64')(
    'a program for another machine is one, without bytecode that nothing tried',
    async () => {
      const out = join(testFolder(), 'iostlens-arm64')
      const child = Bun.spawn(['scripts/build', '--target', 'bun-linux-arm64-musl', '--out', out], {
        ...{ cwd: ROOT, stderr: 'pipe' },
      })
      expect(await child.stderr.text()).toEndWith(`made ${out}\n`)
      const head = new DataView(await Bun.file(out).slice(0, 20).arrayBuffer())
      expect(head.getUint16(ELF_MACHINE, true)).toBe(AARCH64)
    },
  )

  test('an unknown platform is refused', async () => {
    const child = Bun.spawn(['scripts/release', 'windows'], { cwd: ROOT, stderr: 'pipe' })
    expect(await child.stderr.text()).toContain(
      "unknown platform 'windows'; it must be one of linux-x64 linux-x64-musl linux-arm64 linux-arm64-musl",
    )
    expect(await child.exited).toBe(2)
  })
})
