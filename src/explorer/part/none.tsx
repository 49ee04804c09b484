/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

/** Stands where there is nothing to show. */
export const None = (): Html => <span class="none">—</span>
