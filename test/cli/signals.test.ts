import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { replayed } from '../support/stores/loading.ts'

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('stop: %s ends every long-running command with 0', async signal => {
  await using folder = await cliFolder()
  await using node = await replayed(60)
  const services = [
    folder.start(['serve', '--listen', '127.0.0.1:0']),
    folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0', '--data', 'other']),
  ]
  await Promise.all(services.map(({ firstLine }) => firstLine))
  for (const running of services) {
    running.kill(signal)
    expect((await running.ended).code).toBe(0)
  }
})

test('stop: a load that follows the chain ends with the blocks it has loaded', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(60)
  const loading = folder.start(['load', '--node', node.url])
  await loading.logs('Loaded blocks.')
  loading.kill('SIGTERM')
  expect(await loading.ended).toMatchObject({ code: 0, out: 'Loaded up to block 60.\n' })
})

test('stop: a load that waits for an unreachable node ends at once', async () => {
  await using folder = await cliFolder()
  const loading = folder.start(['load', '--node', 'http://127.0.0.1:1'])
  await loading.logs('Loading paused, trying again.')
  loading.kill('SIGINT')
  expect(await loading.ended).toMatchObject({ code: 0, out: 'Nothing is loaded.\n' })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('stop: a second %s ends the process at once', async (signal, code) => {
  await using folder = await cliFolder()
  const stop = JSON.stringify(join(ROOT, 'src/cli/stop.ts'))
  // A program that ignores the stop signal.
  const program = `
    import { stopSignal, untilStopped } from ${stop}
    const signal = stopSignal()
    setInterval(() => {}, 1000)
    console.log('ready')
    await untilStopped(signal)
    console.log('asked')`
  const child = spawnIn(folder.path, [process.execPath, '-e', program])
  await child.says('ready')
  child.kill(signal)
  await child.says('asked')
  child.kill(signal)
  expect((await child.ended).code).toBe(code)
})

test('stop: a load with an end that is stopped before it says so, with the code of a temporary failure', async () => {
  await using folder = await cliFolder()
  const stopLoad = async (...end: readonly string[]): Promise<void> => {
    const loading = folder.start(['load', ...end, '--node', 'http://127.0.0.1:1', '--data', end.join('').slice(2)])
    await loading.logs('Loading paused, trying again.')
    loading.kill('SIGTERM')
    const { code, out, err } = await loading.ended
    expect([code, out, err]).toEqual([75, '', expect.stringContaining('before the end; run it again to continue.')])
  }
  await Promise.all([stopLoad('--once'), stopLoad('--to', '60')])
})

test('stop: a process that was started to outlive its terminal does', async () => {
  await using folder = await cliFolder()
  const stop = JSON.stringify(join(ROOT, 'src/cli/stop.ts'))
  const program = `
    import { stopSignal } from ${stop}
    const signal = stopSignal()
    console.log('ready')
    process.kill(process.pid, 'SIGHUP')
    setTimeout(() => console.log(signal.aborted ? 'asked' : 'goes on'), 50)`
  const nohup = ['sh', '-c', 'trap "" HUP; exec "$@"', 'sh']
  const outcome = await spawnIn(folder.path, [...nohup, process.execPath, '-e', program]).ended
  expect(outcome).toMatchObject({ code: 0, out: 'ready\ngoes on\n' })
})
