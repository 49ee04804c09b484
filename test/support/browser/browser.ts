import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { connectDevtools } from './devtools.ts'
import { type OpenOptions, openPage, type Page } from './page.ts'

/** A headless Chromium process. */
type Browser = {
  /** A page with a new profile: no cookies, storage or cache of another page. */
  open(options?: OpenOptions): Promise<Page>
  /** Further pages with one profile of their own, as the windows of one browser. */
  openWindows(count: number): Promise<readonly Page[]>
}

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

let started: Promise<Browser> | undefined
/** The running program, whose input would end if nothing referred to it. */
const running: Bun.Subprocess[] = []

/**
 * The browser of this process, which all of its tests share. It ends with the process. Throws with the message of
 * `scripts/chromium` when there is none.
 */
export function shareBrowser(): Promise<Browser> {
  started ??= startBrowser()
  return started
}

/** Runs a program until the input ends, which a process that dies in any way brings about, and removes its folder. */
const UNTIL_INPUT_ENDS = 'folder=$1; shift; "$@" </dev/null & read -r _; kill -9 $!; wait $!; rm -rf -- "$folder"'

async function startBrowser(): Promise<Browser> {
  const program = await chromium()
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
    open: async options => openIn(await newContext(), options),
    openWindows: async count => {
      const context = await newContext()
      return Promise.all(Array.from({ length: count }, () => openIn(context)))
    },
  }
}

async function chromium(): Promise<string> {
  const script = Bun.spawn([join(ROOT, 'scripts/chromium')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [path, said, code] = await Promise.all([
    new Response(script.stdout).text(),
    new Response(script.stderr).text(),
    script.exited,
  ])
  if (code !== 0) throw new Error(`scripts/chromium ended with ${code}:\n${said}`)
  return path.trim()
}

/** Reads the DevTools URL that the browser prints. Later output is discarded. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const found = Promise.withResolvers<string>()
  const reading = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const part of stderr) {
      text += decoder.decode(part, { stream: true })
      const [, address] = /DevTools listening on (\S+)/.exec(text) ?? []
      if (address === undefined) continue
      found.resolve(address)
      text = ''
    }
    found.reject(new Error(`Chromium ended before it listened:\n${text}`))
  }
  reading().catch(found.reject)
  return found.promise
}
