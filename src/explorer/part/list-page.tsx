/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Download } from '../download/download.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, PageContent, Visit } from '../page.ts'
import { Files } from './files.tsx'
import { Pager } from './pager.tsx'

type ListPage = {
  readonly title: Text
  /** A sentence with the contents of the list and their order. */
  readonly lead: Text
  readonly description?: Text
  /** Number of rows in the whole list. */
  readonly total: number
  /** The file with the whole list. */
  readonly file: Download
  /** The rows of the requested page. */
  readonly table: Html
}

/** A page with one list. Search engines may index only its first page. */
export const listPage = (
  visit: Visit,
  { title, lead, description = title, total, file, table }: ListPage,
): PageContent => ({
  title: visit.say(title),
  description: visit.say(description),
  isMinor: isNarrowed(visit, ['page']),
  body: (
    <>
      <h1 safe>{visit.say(title)}</h1>
      <p class="about" safe>
        {visit.say(lead)}
      </p>
      <section class="card">
        <Files visit={visit} file={file} total={total} />
        {table}
        <Pager visit={visit} total={total} />
      </section>
    </>
  ),
})
