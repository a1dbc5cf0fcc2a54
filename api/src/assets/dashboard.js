// Makes the dashboard's pages quicker to use. Every page is whole without this script.
"use strict";
