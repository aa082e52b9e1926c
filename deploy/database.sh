#!/bin/sh
# Run once by the container of PostgreSQL: an ordinary user who owns one database, and a role for backups.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat "$POSTGRES_PASSWORD_FILE")" <<'SQL'
create role memdir login nosuperuser nocreaterole nocreatedb password :'password';
create database memdir owner memdir;
create role memdir_backup login bypassrls password :'password';
grant pg_read_all_data to memdir_backup;
SQL
