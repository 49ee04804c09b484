import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openScratchFolder } from './lock.ts'

/** Opens a folder, prints its path, and keeps running. */
const program = (parent: string): string => `
  import { openScratchFolder } from ${JSON.stringify(join(import.meta.dir, 'lock.ts'))}
  const folder = openScratchFolder(${JSON.stringify(parent)}, 'audit-')
  await Bun.write(folder.path + '/scratch.sqlite', 'much')
  console.log(folder.path)
  setInterval(() => folder.path, 1000)`

test('openScratchFolder: leftovers of a killed process are removed, and files in use and other files are kept', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'iostlens-'))
  const child = Bun.spawn([process.execPath, '-e', program(parent)], { stdout: 'pipe' })
  try {
    mkdirSync(join(parent, 'other'))
    writeFileSync(join(parent, 'audit-file'), '')
    const line = await child.stdout.getReader().read()
    const theirs = basename(new TextDecoder().decode(line.value).trim())

    const first = openScratchFolder(parent, 'audit-')
    const beside = openScratchFolder(parent, 'audit-')
    const names = (...folders: readonly { readonly path: string }[]) => folders.map(({ path }) => basename(path))
    expect(readdirSync(parent).sort()).toEqual([theirs, ...names(first, beside), 'audit-file', 'other'].sort())
    beside.close()

    child.kill('SIGKILL')
    await child.exited
    const second = openScratchFolder(parent, 'audit-')
    expect(readdirSync(parent).sort()).toEqual([...names(first, second), 'audit-file', 'other'].sort())
    first.close()
    second.close()
    expect(readdirSync(parent).sort()).toEqual(['audit-file', 'other'])
  } finally {
    child.kill('SIGKILL')
    rmSync(parent, { recursive: true, force: true })
  }
})
