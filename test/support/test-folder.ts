import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for the tests of the file, or of the `describe`, that calls this. It is removed after they have run. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iostlens-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
