import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from '../processes/run-tool.ts'
import { connectDevtools, type OpenOptions, openPage, type Page } from './page.ts'

/** Flags that stop requests to the vendor's servers and rendering that depends on the machine's graphics. */
const FLAGS = [
  '--headless=new',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-gpu',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--hide-scrollbars',
  '--remote-debugging-port=0',
] as const

let started: ReturnType<typeof startBrowser> | undefined
/** The running program, whose input would end if nothing referred to it. */
const running: Bun.Subprocess[] = []

/** The browser of this process. Throws with the message of `scripts/chromium` when there is none. */
export function shareBrowser() {
  started ??= startBrowser()
  return started
}

/** Runs a program until the input ends, which a process that dies in any way brings about, and removes its folder. */
const UNTIL_INPUT_ENDS = 'folder=$1; shift; "$@" </dev/null & read -r _; kill -9 $!; wait $!; rm -rf -- "$folder"'

async function startBrowser() {
  const program = (await runTool(['scripts/chromium'])).trim()
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-browser-'))
  // Chromium's sandbox does not work for root.
  const flags = [...FLAGS, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), `--user-data-dir=${folder}`]
  const child = Bun.spawn(['sh', '-c', UNTIL_INPUT_ENDS, 'browser', folder, program, ...flags, 'about:blank'], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  child.unref()
  running.push(child)
  const devtools = await connectDevtools(await addressIn(child.stderr))
  const newContext = async (): Promise<unknown> =>
    (await devtools.send('Target.createBrowserContext'))['browserContextId']
  const openIn = async (browserContextId: unknown, options: OpenOptions = {}): Promise<Page> => {
    const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    return openPage(devtools.session(String(sessionId)), {
      ...options,
      close: async () => {
        await devtools.send('Target.disposeBrowserContext', { browserContextId })
      },
    })
  }
  return {
    /** A page with a new profile: no cookies, storage or cache of another page. */
    open: async (options?: OpenOptions) => openIn(await newContext(), options),
    /** Further pages with one profile of their own, as the windows of one browser. */
    openWindows: async (count: number) => {
      const context = await newContext()
      return Promise.all(Array.from({ length: count }, () => openIn(context)))
    },
  }
}

/** Reads the DevTools URL that the browser prints. Later output is discarded. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const found = Promise.withResolvers<string>()
  const reading = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const part of stderr) {
      text = `${text}${decoder.decode(part, { stream: true })}`.slice(-10_000)
      const [, address] = /DevTools listening on (\S+)\n/.exec(text) ?? []
      if (address !== undefined) found.resolve(address)
    }
    found.reject(new Error(`Chromium ended before it listened:\n${text}`))
  }
  reading().catch(found.reject)
  return found.promise
}
