import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cliFolder } from '../support/processes/cli-process.ts'

test('serve: an invalid labels file is reported with its name, its line and the rule, and nothing is served', async () => {
  await using folder = await cliFolder()
  const path = join(folder.path, 'labels.csv')
  await writeFile(path, 'name,label\nadmin,Some Admin\nAdmin,x\n')
  await folder.run(['keys', 'add', 'k'])
  const options = ['serve', '--listen', '127.0.0.1:0', '--explorer', '--labels', path]
  const refused = await folder.run(options)
  expect(refused).toEqual({
    code: 2,
    out: '',
    err: `iostlens: Labels cannot be read from ${path}: line 3, "Admin,x", does not begin with the name of an account or the id of a contract.\n`,
  })
  await writeFile(path, 'name,label\nadmin,Some Admin\n')
  const served = folder.start(options)
  expect((await fetch(`${await served.firstLine}/health`)).status).toBe(200)
  served.kill('SIGTERM')
  expect((await served.ended).code).toBe(0)
})
