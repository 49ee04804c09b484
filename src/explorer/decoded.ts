/** Decodes a path segment. A segment with an invalid escape is returned unchanged; it is the name of nothing. */
export const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
