/**
 * Next's own types (CSS and image imports), so that the type check does not depend on a build having run before.
 */
/// <reference types="next" />
/// <reference types="next/image-types/global" />
