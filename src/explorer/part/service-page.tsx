/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'
import { Document, type DocumentProps } from './document.tsx'

/**
 * A page of the service itself, such as the reference. It has the explorer's design, and is served without
 * the explorer, too.
 */
export const ServicePage = ({ children, ...props }: DocumentProps): Html => (
  <Document {...props}>
    {children as 'safe'}
    <footer class="foot">
      <p>
        iostlens <span safe>{props.shell.site.version}</span>
      </p>
    </footer>
  </Document>
)
