<?php
// Pretty permalinks for PHP's own web server: files and folders that exist are left to it, the rest is WordPress.

$root = $_SERVER['DOCUMENT_ROOT'];
$wanted = realpath($root . rawurldecode((string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)));
$inside = $wanted !== false && str_starts_with($wanted, "$root/");
if ($inside && (is_file($wanted) || is_file("$wanted/index.php"))) {
    return false;
}
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = "$root/index.php";
require "$root/index.php";
